import { readFileSync, realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isCovered } from "@flint/testkit";
import { expect, test } from "vitest";
import { visibleScript } from "./visible-script.ts";

const SCRIPT = new URL("../../../agent/src/mcp/fixtures/library-server.mjs", import.meta.url);

test("uses a script that the sandbox shows at its own path", async () => {
  const path = realpathSync(fileURLToPath(SCRIPT));
  expect(await visibleScript(SCRIPT, () => false)).toBe(path);
});

test("bundles a script that the sandbox hides to a visible path", async () => {
  const copy = await visibleScript(SCRIPT, () => true);
  expect(isCovered(copy)).toBe(false);
  expect(readFileSync(copy, "utf8")).not.toMatch(/from\s*"(@modelcontextprotocol|zod)/);
});
