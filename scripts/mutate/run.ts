import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Mutation, mutated } from "./mutation.ts";

/** The outcome of a planted fault: noticed, survived, or so broken that a test file could not be loaded. */
export type Verdict = { result: "noticed" | "survived" | "broken"; details: string };

/** Number of tests of a run that passed and failed, and everything it printed. */
export type TestCounts = { passed: number; failed: number; output: string };

const COUNTS = /^(\d+) passed, (\d+) failed, \d+ skipped$/;

/** Plants one fault in the copy, runs the tests that have to notice it, and takes it out again. */
export async function tryMutation(copy: string, mutation: Mutation, signal: AbortSignal): Promise<Verdict> {
  const path = join(copy, mutation.file);
  const source = readFileSync(path, "utf8");
  writeFileSync(path, mutated(mutation, source));
  try {
    // A fault may make every test wait for its time limit, so the first failure has to be enough.
    return verdictOf(await runTests(copy, mutation.tests, { only: mutation.only, bail: true, signal }));
  } finally {
    writeFileSync(path, source);
  }
}

/** A test file that cannot even be loaded says more about the planted text than about the promise. */
export function verdictOf({ passed, failed, output }: TestCounts): Verdict {
  if (passed + failed === 0 || output.includes("Failed Suites")) return { result: "broken", details: output };
  return { result: failed > 0 ? "noticed" : "survived", details: `${passed} passed, ${failed} failed` };
}

/** The tests of the files to run, whether the first failure is enough, and the signal that stops the run. */
export type RunOptions = { only?: string | undefined; bail?: boolean; signal: AbortSignal };

/** Runs test files in the copy and resolves with their counts. Rejects if the run itself does not get that far. */
export function runTests(
  copy: string,
  tests: readonly string[],
  { only, bail = false, signal }: RunOptions,
): Promise<TestCounts> {
  const chosen = [...(only === undefined ? [] : ["-t", only]), ...(bail ? ["--bail=1"] : [])];
  const vitest = join(copy, "node_modules/vitest/vitest.mjs");
  const child = spawn(process.execPath, [vitest, "run", "--maxWorkers=2", ...chosen, ...tests], {
    ...{ cwd: copy, signal, stdio: ["ignore", "pipe", "pipe"] },
    env: { ...process.env, FLINT_TEST_REQUIRE: "", NO_COLOR: "1" },
  });
  let output = "";
  const add = (text: Buffer) => {
    output += text.toString();
  };
  child.stdout.on("data", add);
  child.stderr.on("data", add);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => {
      // What vitest prints to stderr may come between and after the lines of its output.
      const counted = output.split("\n").findLast((line) => COUNTS.test(line));
      const [, passed, failed] = COUNTS.exec(counted ?? "") ?? [];
      if (passed === undefined || failed === undefined) return reject(new Error(`No counts:\n${output}`));
      resolve({ passed: Number(passed), failed: Number(failed), output });
    });
  });
}
