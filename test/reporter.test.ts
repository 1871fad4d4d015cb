import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { ROOT } from "./source/files.ts";

const CONFIG = `
import { CountReporter } from ${JSON.stringify(join(ROOT, "test/reporter.ts"))};
export default { test: { globals: true, reporters: ["default", new CountReporter()] } };
`;

/** Runs vitest over the given test files in a folder of their own and returns the last lines it prints. */
async function lastLines(files: Record<string, string>, count: number): Promise<string[]> {
  const { path: folder } = await temporaryFolder();
  const all = { "vitest.config.ts": CONFIG, ...files };
  await Promise.all(Object.entries(all).map(([name, text]) => writeFile(join(folder, name), text)));
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, [vitest, "run", "--root", folder], (_, stdout) => resolve(stdout));
  });
  return output.trimEnd().split("\n").slice(-count);
}

test("a run ends with its counts, in which failures outside of tests count as failed", async () => {
  const files = {
    "cases.test.ts": `
      test("passes", () => {});
      test.skip("is skipped", () => {});
      test("fails", () => { throw new Error("in a test"); });
      describe("a group", () => { afterAll(() => { throw new Error("after"); }); test("passes", () => {}); });`,
    "broken.test.ts": 'throw new Error("while loading");',
  };
  expect(await lastLines(files, 1)).toEqual(["2 passed, 3 failed, 1 skipped"]);
});

test("a run reports why tests were skipped before its counts", async () => {
  const files = {
    "cases.test.ts": `
      test("passes", () => {});
      test.skip("wants a lamp (needs lamp: spawn lamp ENOENT)", () => {});
      test.skip("wants a lamp too (needs lamp: spawn lamp ENOENT)", () => {});
      test("finds out late", ({ skip }) => skip("needs user namespaces"));
      test.skip("was not chosen", () => {});`,
  };
  expect(await lastLines(files, 3)).toEqual([
    "SKIPPED 2 tests: needs lamp: spawn lamp ENOENT",
    "SKIPPED 1 test: needs user namespaces",
    "1 passed, 0 failed, 4 skipped",
  ]);
});

test("a run names the tests that passed only on a retry", async () => {
  const files = {
    "cases.test.ts": `
      let tries = 0;
      test("passes at last", { retry: 1 }, () => { tries += 1; expect(tries).toBe(2); });`,
  };
  expect(await lastLines(files, 2)).toEqual([
    "FLAKY passed on its second try: passes at last",
    "1 passed, 0 failed, 0 skipped",
  ]);
});
