import { readFileSync, realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isCovered } from "@flint/testkit";
import { expect, test } from "vitest";
import { seenScript } from "./visible-script.ts";

const SCRIPT = new URL("../../../agent/src/mcp/fixtures/library-server.mjs", import.meta.url);

test("a script that the sandbox shows is used where it lies", async () => {
  const path = realpathSync(fileURLToPath(SCRIPT));
  expect(await seenScript(SCRIPT, () => false)).toBe(path);
});

test("a script that the sandbox hides is copied with all that it imports to where it is shown", async () => {
  const copy = await seenScript(SCRIPT, () => true);
  expect(isCovered(copy)).toBe(false);
  expect(readFileSync(copy, "utf8")).not.toMatch(/from\s*"(@modelcontextprotocol|zod)/);
});
