import type { Reporter, TestCase, TestModule } from "vitest/node";

/**
 * Ends the output of a run with the tests that passed only on a retry, the reasons why tests were skipped, and one line
 * that programs can read:
 * `N passed, N failed, N skipped`.
 */
export class CountReporter implements Reporter {
  readonly #write: (text: string) => void;

  constructor(write: (text: string) => void = (text) => process.stdout.write(text)) {
    this.#write = write;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const states = tests.map((test) => test.result().state);
    const count = (...wanted: string[]) => states.filter((state) => wanted.includes(state)).length;
    for (const test of tests.filter(wasFlaky))
      this.#write(`FLAKY passed on its second try: ${test.fullName}\n`);
    for (const line of skipLines(tests)) this.#write(`${line}\n`);
    // What broke outside of a test must not look like a good run.
    const outside = modules.flatMap((module) => suiteErrors(module)).length + unhandledErrors.length;
    const failed = count("failed") + outside;
    this.#write(`${count("passed")} passed, ${failed} failed, ${count("skipped", "pending")} skipped\n`);
  }
}

function wasFlaky(test: TestCase): boolean {
  return test.result().state === "passed" && (test.diagnostic()?.retryCount ?? 0) > 0;
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

/** What the test itself said, or what `needs` put at the end of its title. */
function skipReason(test: TestCase): string | undefined {
  const result = test.result();
  if (result.state !== "skipped") return undefined;
  return result.note ?? /\((needs \S+: .*)\)$/.exec(test.name)?.[1];
}

function suiteErrors(module: TestModule): unknown[] {
  return [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())];
}
