import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { runsLongTests } from "./long-tests.ts";
import { type CountOptions, PROOF_FILE } from "./reporter.ts";
import { ROOT } from "./source/files.ts";

/** The configuration of a run whose reporter gets the given options. */
const config = (options: CountOptions, exclude: readonly string[] = []) => `
import { CountReporter } from ${JSON.stringify(join(ROOT, "test/reporter.ts"))};
const reporters = ["default", new CountReporter(${JSON.stringify(options)})];
export default { test: { globals: true, reporters, exclude: ${JSON.stringify(exclude)} } };
`;

type Run = { lines: string[]; code: number; folder: string };

/** Runs vitest over the given test files, all in a folder of their own. */
async function run(
  files: Record<string, string>,
  options: CountOptions = { required: false },
  filters: readonly string[] = [],
): Promise<Run> {
  const { path: folder } = await temporaryFolder();
  const all = { "vitest.config.ts": config(options), ...files };
  for (const [name, text] of Object.entries(all)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  return new Promise((resolve) => {
    execFile(process.execPath, [vitest, "run", "--root", folder, ...filters], (error, stdout) => {
      resolve({ lines: stdout.trimEnd().split("\n"), code: error === null ? 0 : Number(error.code), folder });
    });
  });
}

async function lastLines(files: Record<string, string>, count: number): Promise<string[]> {
  return (await run(files)).lines.slice(-count);
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
  expect(await lastLines(files, 4)).toEqual([
    "FAILED cases.test.ts > fails: in a test",
    "FAILED broken.test.ts: while loading",
    "FAILED cases.test.ts: after",
    "2 passed, 3 failed, 1 skipped",
  ]);
});

test("a whole run says how many files of long tests it left out", async () => {
  const passing = 'test("passes", () => {});';
  const files = { "test/a.test.ts": passing, "test/b.long.test.ts": passing };
  const leaving = { ...files, "vitest.config.ts": config({ required: false }, ["**/*.long.test.ts"]) };
  expect(await lastLines(leaving, 2)).toEqual([
    "NOT RUN 1 file of long tests: FLINT_TEST_LONG=1 npm test runs them",
    "1 passed, 0 failed, 0 skipped",
  ]);
  expect((await run(files)).lines.join("\n")).not.toContain("NOT RUN");
});

test.each([
  [{}, [], false],
  [{ FLINT_TEST_LONG: "1" }, [], true],
  [{ FLINT_TEST_REQUIRE: "all" }, [], true],
  [{ FLINT_TEST_REQUIRE: "claude,codex" }, [], false],
  [{}, ["run", "test/torture/torture.long.test.ts"], true],
])("with %j and the words %j long tests run: %s", (environment, words, expected) => {
  expect(runsLongTests(environment, words)).toBe(expected);
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

describe("the proof of a whole run", () => {
  const rows = ["S0-1", "S0-2", "S0-3", "S0-4", "S0-5", "S0-6", "P07"].map(
    (id) => ({ id, behaviour: "Holds", status: "done" }) as const,
  );
  const planned = { id: "S0-9", behaviour: "Will hold", status: "planned", subject: "task layer" } as const;
  const files = {
    "test/cases.test.ts": `
      test("passes [S0-1]", () => { expect(1).toBe(1); });
      test.skipIf(true)("is switched off [S0-2]", () => {});
      test("finds out late [S0-3]", ({ skip }) => skip("needs user namespaces"));
      test("fails [S0-4]", () => { expect(1).toBe(2); });
      describe("a group [S0-5]", () => { test("passes", () => { expect(1).toBe(1); }); });`,
    "test/other.test.ts": `test("passes too [S0-1]", () => { expect(1).toBe(1); });`,
    "test/never.ts": `test("is in no file of tests [S0-6]", body);`,
    "test/torture/p07-flood.ts": `export const flood = { id: "P07" };`,
  };

  test("names what was skipped, failed, never ran or is only the title of a group, and fails", async () => {
    const { lines, code, folder } = await run(files, { rows: [...rows, planned], required: true });
    expect(lines.filter((line) => line.startsWith("UNPROVED"))).toEqual([
      'UNPROVED S0-2 is not proved: "is switched off [S0-2]" skipped in test/cases.test.ts',
      'UNPROVED S0-3 is not proved: "finds out late [S0-3]" skipped in test/cases.test.ts (needs user namespaces)',
      'UNPROVED S0-4 is not proved: "fails [S0-4]" failed in test/cases.test.ts',
      "UNPROVED S0-5 is not proved: only a describe cites it (test/cases.test.ts)",
      "UNPROVED S0-6 is not proved: its tests never ran (test/never.ts)",
    ]);
    expect([lines.at(-1), code]).toEqual(["3 passed, 2 failed, 2 skipped", 1]);
    expect(JSON.parse(await readFile(join(folder, PROOF_FILE), "utf8"))).toEqual({
      "S0-1": ["test/cases.test.ts", "test/other.test.ts"],
    });
  });

  test("fails also when every test passed", async () => {
    const passing = { "test/other.test.ts": files["test/other.test.ts"] };
    const { lines, code } = await run(passing, { rows: rows.slice(0, 2), required: true });
    expect(lines.slice(-2)).toEqual([
      "UNPROVED S0-2 is not proved: no test cites it",
      "1 passed, 1 failed, 0 skipped",
    ]);
    expect(code).toBe(1);
  });

  test("is not asked of a run that chose its tests, or where parts may be missing", async () => {
    const two = { ...files, "test/cases.test.ts": `test("passes", () => { expect(1).toBe(1); });` };
    const required = { rows, required: true };
    const chosen = [await run(two, required, ["other"]), await run(two, required, ["-t", "passes too"])];
    const lenient = await run(two, { rows, required: false });
    for (const { lines, code } of [...chosen, lenient]) {
      expect(lines.filter((line) => line.startsWith("UNPROVED"))).toEqual([]);
      expect(code).toBe(0);
    }
    const written = chosen.map(({ folder }) => existsSync(join(folder, PROOF_FILE)));
    expect(written).toEqual([false, false]);
  });
});
