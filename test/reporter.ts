import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node";
import { leftOutLines } from "./long-tests.ts";
import type { Row } from "./requirements/audit.ts";
import { collectEvidence } from "./requirements/collect.ts";
import { provedBy, type TestRun, unproved } from "./requirements/proof.ts";
import { SAFETY_CASES } from "./requirements/safety.ts";
import { REQUIREMENTS } from "./requirements.ts";

/** Path of the proof of the last whole run, from the root of the workspace. */
export const PROOF_FILE = "node_modules/.cache/flint/proved.json";

/** The output of a reporter, and the rows that a run has to prove. */
export type CountOptions = { write?: (text: string) => void; rows?: readonly Row[]; required?: boolean };

/**
 * Ends the output of a run with the tests that failed, those that passed only on a retry, the reasons why tests were skipped,
 * the long tests that were left out, and one line that programs can read: `N passed, N failed, N skipped`.
 *
 * A whole run also writes which requirements and safety cases its passed tests cite. Where every part is required, one that
 * is done and was not proved fails the run.
 */
export class CountReporter implements Reporter {
  readonly #write: (text: string) => void;
  readonly #rows: readonly Row[];
  readonly #required: boolean;
  #vitest: Vitest | undefined;

  constructor(options: CountOptions = {}) {
    this.#write = options.write ?? ((text) => process.stdout.write(text));
    this.#rows = options.rows ?? [...REQUIREMENTS, ...SAFETY_CASES];
    this.#required = options.required ?? requiresAll();
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): Promise<void> {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const states = tests.map((test) => test.result().state);
    const count = (...requested: string[]) => states.filter((state) => requested.includes(state)).length;
    const root = this.#vitest?.config.root ?? process.cwd();
    for (const line of failureLines(modules, unhandledErrors, root)) this.#write(`${line}\n`);
    for (const test of tests.filter(wasFlaky))
      this.#write(`FLAKY passed on its second try: ${test.fullName}\n`);
    for (const line of skipLines(tests)) this.#write(`${line}\n`);
    for (const line of await this.#leftOut(modules)) this.#write(`${line}\n`);
    const unproved = await this.#checkProof(modules, tests);
    for (const line of unproved) this.#write(`UNPROVED ${line}\n`);
    if (unproved.length > 0) process.exitCode = 1;
    // What broke outside of a test must not look like a good run.
    const outside = modules.flatMap((module) => suiteErrors(module)).length + unhandledErrors.length;
    const failed = count("failed") + outside + (unproved.length > 0 ? 1 : 0);
    this.#write(`${count("passed")} passed, ${failed} failed, ${count("skipped", "pending")} skipped\n`);
  }

  async #leftOut(modules: readonly TestModule[]): Promise<readonly string[]> {
    const vitest = this.#vitest;
    if (vitest === undefined || !(await isWhole(vitest, modules))) return [];
    return leftOutLines(vitest.config.root, new Set(modules.map(({ moduleId }) => moduleId)));
  }

  /** Writes what a whole run proved, and returns what it should have proved and did not. */
  async #checkProof(modules: readonly TestModule[], tests: readonly TestCase[]): Promise<string[]> {
    const vitest = this.#vitest;
    if (vitest === undefined || !(await isWhole(vitest, modules))) return [];
    const { root } = vitest.config;
    const runs = tests.map((test) => runOf(test, root));
    const file = join(root, PROOF_FILE);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify(provedBy(runs), null, 2)}\n`);
    return this.#required ? unproved(this.#rows, runs, collectEvidence(root)) : [];
  }
}

function requiresAll(): boolean {
  const parts = (process.env.FLINT_TEST_REQUIRE ?? "").split(",").map((part) => part.trim());
  return parts.includes("all");
}

/**
 * Reports whether a run was asked for every test there is: one with filters says nothing about what was left
 * out.
 */
async function isWhole(vitest: Vitest, modules: readonly TestModule[]): Promise<boolean> {
  const { testNamePattern, shard, changed, project, bail } = vitest.config;
  if ([testNamePattern, shard, changed, bail].some(Boolean) || project.length > 0) return false;
  const ran = new Set(modules.map(({ moduleId }) => moduleId));
  const all = await vitest.globTestSpecifications();
  return all.every(({ moduleId }) => ran.has(moduleId));
}

/** The title of a test alone: what a group around it is called says nothing about what its tests prove. */
function runOf(test: TestCase, root: string): TestRun {
  const { state } = test.result();
  const reason = skipReason(test);
  const file = relative(root, test.module.moduleId);
  return { title: test.name, file, state, ...(reason === undefined ? {} : { reason }) };
}

function wasFlaky(test: TestCase): boolean {
  return test.result().state === "passed" && (test.diagnostic()?.retryCount ?? 0) > 0;
}

/** One line for each failure, so that the end of a long output is enough to know what to look for. */
function failureLines(modules: readonly TestModule[], unhandled: readonly unknown[], root: string): string[] {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const failed = tests.filter((test) => test.result().state === "failed");
  return [
    ...failed.map((test) => {
      const file = relative(root, test.module.moduleId);
      return `FAILED ${file} > ${test.fullName}: ${firstLine(test.result().errors?.[0])}`;
    }),
    ...modules.flatMap((module) =>
      suiteErrors(module).map((error) => `FAILED ${relative(root, module.moduleId)}: ${firstLine(error)}`),
    ),
    ...unhandled.map((error) => `FAILED outside of the tests: ${firstLine(error)}`),
  ];
}

function firstLine(error: unknown): string {
  const message =
    typeof error === "object" && error !== null && "message" in error ? String(error.message) : String(error);
  return (message.split("\n", 1)[0] ?? "").slice(0, 200);
}

/** One line for each reason; tests that were only not chosen have none. */
function skipLines(tests: readonly TestCase[]): string[] {
  const reasons = tests.map(skipReason).filter((reason) => reason !== undefined);
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].map(
    ([reason, count]) => `SKIPPED ${count} ${count === 1 ? "test" : "tests"}: ${reason}`,
  );
}

/** Returns the test's own note, or the one that `needs` put at the end of its title. */
function skipReason(test: TestCase): string | undefined {
  const result = test.result();
  if (result.state !== "skipped") return undefined;
  return result.note ?? /\((needs \S+: .*)\)$/.exec(test.name)?.[1];
}

function suiteErrors(module: TestModule): unknown[] {
  return [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())];
}
