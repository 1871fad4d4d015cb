import { existsSync, readFileSync, realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { seenScript } from "./seen-script.ts";

const SCRIPT = new URL("../../../agent/src/mcp/fixtures/library-server.mjs", import.meta.url);
const REPOSITORY = realpathSync(fileURLToPath(new URL("../../../../", import.meta.url))).replace(/\/$/, "");

test("a script that the sandbox shows is used where it lies", async () => {
  const path = realpathSync(fileURLToPath(SCRIPT));
  expect(await seenScript(SCRIPT, onTestFinished, ["/nowhere"])).toBe(path);
});

test("a script that the sandbox hides is copied with all that it imports, and the copy goes with the test", async () => {
  const cleanUps: (() => Promise<void>)[] = [];
  const copy = await seenScript(SCRIPT, (cleanUp) => void cleanUps.push(cleanUp), [REPOSITORY]);
  expect(copy.startsWith("/var/tmp/")).toBe(true);
  expect(readFileSync(copy, "utf8")).not.toMatch(/from\s*"(@modelcontextprotocol|zod)/);
  for (const cleanUp of cleanUps) await cleanUp();
  expect(existsSync(copy)).toBe(false);
});
