import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ROOT } from "./source/files.ts";

const CONFIG = `
import { CountReporter } from ${JSON.stringify(join(ROOT, "test/reporter.ts"))};
export default { test: { globals: true, reporters: ["default", new CountReporter()] } };
`;

/** Runs vitest over the given test files in a folder of their own and returns the last line it prints. */
async function lastLine(files: Record<string, string>): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "flint-reporter-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const all = { "vitest.config.ts": CONFIG, ...files };
  await Promise.all(Object.entries(all).map(([name, text]) => writeFile(join(folder, name), text)));
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, [vitest, "run", "--root", folder], (_, stdout) => resolve(stdout));
  });
  return output.trimEnd().split("\n").at(-1);
}

test("a run ends with one line of counts in which failures outside of tests count as failed", async () => {
  const line = await lastLine({
    "cases.test.ts": `
      test("passes", () => {});
      test.skip("is skipped", () => {});
      test("fails", () => { throw new Error("in a test"); });
      describe("a group", () => { afterAll(() => { throw new Error("after"); }); test("passes", () => {}); });`,
    "broken.test.ts": 'throw new Error("while loading");',
  });
  expect(line).toBe("2 passed, 3 failed, 1 skipped");
});
