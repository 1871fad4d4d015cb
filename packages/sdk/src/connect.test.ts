import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CLIENT_INFO } from "./connect.ts";

test("the SDK introduces itself with the version it has", () => {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  expect(CLIENT_INFO.version).toBe(manifest.version);
});
