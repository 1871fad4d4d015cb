import type { Reporter, TestModule } from "vitest/node";

/** Ends the output of a run with one line that programs can read: `N passed, N failed, N skipped`. */
export class CountReporter implements Reporter {
  readonly #write: (text: string) => void;

  constructor(write: (text: string) => void = (text) => process.stdout.write(text)) {
    this.#write = write;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const states = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => test.result().state),
    );
    const count = (...wanted: string[]) => states.filter((state) => wanted.includes(state)).length;
    // What broke outside of a test must not look like a good run.
    const outside = modules.flatMap((module) => suiteErrors(module)).length + unhandledErrors.length;
    const failed = count("failed") + outside;
    this.#write(`${count("passed")} passed, ${failed} failed, ${count("skipped", "pending")} skipped\n`);
  }
}

function suiteErrors(module: TestModule): unknown[] {
  return [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())];
}
