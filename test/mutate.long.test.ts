import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { WorkspaceCopy } from "../scripts/mutate/copy.ts";
import { type Mutation, mutated, problemsOf } from "../scripts/mutate/mutation.ts";
import { MUTATIONS } from "../scripts/mutate/mutations.ts";
import { tryMutation, verdictOf } from "../scripts/mutate/run.ts";
import { ROOT } from "./source/files.ts";

const FAULT: Mutation = {
  ...{ name: "adds-wrong", promise: "Sums are right.", file: "sum.ts", tests: ["sum.test.ts"] },
  ...{ find: "left + right", replace: "left - right" },
};
const SUM = "export const sum = (left: number, right: number) => left + right;\n";

describe("the list of faults", () => {
  test("fits the files as they are, with an existing test for each", () => {
    const read = (path: string) =>
      existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), "utf8") : undefined;
    expect(problemsOf(MUTATIONS, read)).toEqual([]);
    expect(MUTATIONS.length).toBeGreaterThanOrEqual(40);
  });

  test("is rejected if a fault fits no place or several, changes nothing, or names what does not exist", () => {
    const files = new Map([
      ["sum.ts", SUM],
      ["twice.ts", SUM + SUM],
      ["sum.test.ts", ""],
    ]);
    const list = [
      FAULT,
      FAULT,
      { ...FAULT, name: "moved", find: "left * right" },
      { ...FAULT, name: "twice", file: "twice.ts" },
      { ...FAULT, name: "same", replace: FAULT.find },
      { ...FAULT, name: "gone", file: "gone.ts" },
      { ...FAULT, name: "untested", tests: [] },
      { ...FAULT, name: "no-test", tests: ["gone.test.ts"] },
    ];
    expect(problemsOf(list, (path) => files.get(path))).toEqual([
      "adds-wrong is in the list more than once.",
      "moved fits 0 places of sum.ts instead of one. Change `find` in the list.",
      "twice fits 2 places of twice.ts instead of one. Change `find` in the list.",
      "same changes nothing.",
      "gone changes gone.ts, which does not exist.",
      "untested names no test.",
      "no-test names the test gone.test.ts, which does not exist.",
    ]);
  });

  test("is applied to the letter, also where the text looks like a pattern", () => {
    expect(mutated({ ...FAULT, replace: "$& + $1" }, SUM)).toContain("=> $& + $1;");
  });
});

describe("a planted fault", () => {
  /** A workspace of one function and one test, with vitest. */
  async function workspace(assertion: string): Promise<string> {
    const { path } = await temporaryFolder();
    await mkdir(join(path, "node_modules"));
    await symlink(join(ROOT, "node_modules/vitest"), join(path, "node_modules/vitest"));
    const config = `
      import { CountReporter } from ${JSON.stringify(join(ROOT, "test/reporter.ts"))};
      export default { test: { globals: true, reporters: ["default", new CountReporter({ required: false })] } };`;
    const tests = `
      import { sum } from "./sum.ts";
      test("adds", () => { ${assertion} });
      test("is a function", () => { expect(sum).toBeTypeOf("function"); });`;
    const files = { "vitest.config.ts": config, "sum.ts": SUM, "sum.test.ts": tests };
    for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
    return path;
  }

  test.each([
    ["noticed", "expect(sum(1, 2)).toBe(3);"],
    ["survived", "expect(sum(1, 0)).toBe(1);"],
  ])("is %s by a test with %s and taken out again", async (result, assertion) => {
    const path = await workspace(assertion);
    const verdict = await tryMutation(path, FAULT, new AbortController().signal);
    expect(verdict.result).toBe(result);
    expect(await readFile(join(path, "sum.ts"), "utf8")).toBe(SUM);
  });

  test("that keeps a test file from loading is not noticed but broken", async () => {
    const path = await workspace("expect(sum(1, 2)).toBe(3);");
    const fault = { ...FAULT, replace: "left +" };
    expect((await tryMutation(path, fault, new AbortController().signal)).result).toBe("broken");
    expect(verdictOf({ passed: 0, failed: 0, output: "No test files found" }).result).toBe("broken");
  });
});

test("the copy has uncommitted files, not ignored ones, and its own packages", async () => {
  const { path } = await temporaryFolder();
  const files = { ".gitignore": "node_modules\ndist\n", "packages/a/a.ts": "1", "dist/a.js": "2", new: "3" };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(path, name, ".."), { recursive: true });
    await writeFile(join(path, name), text);
  }
  await mkdir(join(path, "node_modules/@flint"), { recursive: true });
  await mkdir(join(path, "node_modules/other"));
  await symlink("../../packages/a", join(path, "node_modules/@flint/a"));
  execFileSync("git", ["init", "-q"], { cwd: path });
  await writeFile(join(path, "deleted"), "4");
  execFileSync("git", ["add", "deleted"], { cwd: path });
  await rm(join(path, "deleted"));
  const copy = WorkspaceCopy.make(path);
  onTestFinished(() => copy.remove());
  expect([existsSync(join(copy.path, "new")), existsSync(join(copy.path, "dist"))]).toEqual([true, false]);
  const root = await realpath(copy.path);
  expect(await realpath(join(copy.path, "node_modules/@flint/a"))).toBe(join(root, "packages/a"));
  expect(await realpath(join(copy.path, "node_modules/other"))).toBe(join(path, "node_modules/other"));
});
