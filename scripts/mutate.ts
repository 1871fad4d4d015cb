// Plants faults one at a time in a copy of the workspace and reports those that no test notices.
// npm run mutate [-- --list] [--only NAME[,NAME]]
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../test/source/files.ts";
import { WorkspaceCopy } from "./mutate/copy.ts";
import { type Mutation, problemsOf } from "./mutate/mutation.ts";
import { MUTATIONS } from "./mutate/mutations.ts";
import { runTests, tryMutation, type Verdict } from "./mutate/run.ts";

const MARKS = { noticed: "noticed ", survived: "SURVIVED", broken: "BROKEN  " } as const;

async function main(): Promise<number> {
  const options = { list: { type: "boolean" }, only: { type: "string" } } as const;
  const { list = false, only } = parseArgs({ options }).values;
  const problems = problemsOf(MUTATIONS, readFile);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) return 1;
  const chosen = choose(only);
  if (list) {
    for (const { name, promise } of chosen) console.log(`${name.padEnd(44)}${promise}`);
    return 0;
  }
  const stopped = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopped.abort());
  const copy = WorkspaceCopy.make(ROOT);
  try {
    return (await passUnchanged(copy.path, chosen, stopped.signal))
      ? await tryAll(copy.path, chosen, stopped.signal)
      : 1;
  } catch (error) {
    if (!stopped.signal.aborted) throw error;
    console.error("Stopped.");
    return 1;
  } finally {
    copy.remove();
  }
}

/** Tests that fail without a fault would notice anything. */
async function passUnchanged(
  copy: string,
  chosen: readonly Mutation[],
  signal: AbortSignal,
): Promise<boolean> {
  for (const only of new Set(chosen.map((mutation) => mutation.only))) {
    const tests = [...new Set(chosen.filter((each) => each.only === only).flatMap((each) => each.tests))];
    console.log(`Running ${tests.length} test ${tests.length === 1 ? "file" : "files"} without a fault …`);
    const { passed, failed, output } = await runTests(copy, tests, { only, signal });
    if (failed === 0 && passed > 0) continue;
    console.error(`${output}\nThese tests fail without a fault, so they prove nothing about one.`);
    return false;
  }
  return true;
}

async function tryAll(copy: string, chosen: readonly Mutation[], signal: AbortSignal): Promise<number> {
  const survivors: Mutation[] = [];
  for (const mutation of chosen) {
    const startedAt = performance.now();
    const verdict = await tryMutation(copy, mutation, signal);
    console.log(row(mutation, verdict, (performance.now() - startedAt) / 1_000));
    if (verdict.result === "noticed") continue;
    survivors.push(mutation);
    if (verdict.result === "broken") console.log(verdict.details);
  }
  const noticed = chosen.length - survivors.length;
  console.log(`\n${noticed} of ${chosen.length} faults were noticed.`);
  for (const { name, promise, tests } of survivors)
    console.log(`${name}: ${promise}\n  not noticed by ${tests.join(", ")}`);
  return survivors.length === 0 ? 0 : 1;
}

function row({ name, promise }: Mutation, { result }: Verdict, seconds: number): string {
  return `${MARKS[result]} ${seconds.toFixed(1).padStart(5)} s  ${name}: ${promise}`;
}

function choose(only: string | undefined): readonly Mutation[] {
  if (only === undefined) return MUTATIONS;
  const requested = only.split(",").map((name) => name.trim());
  const unknown = requested.filter((name) => !MUTATIONS.some((mutation) => mutation.name === name));
  if (unknown.length > 0)
    throw new Error(
      `There is no fault named ${unknown.join(", ")}. \`npm run mutate -- --list\` has them all.`,
    );
  return MUTATIONS.filter(({ name }) => requested.includes(name));
}

function readFile(path: string): string | undefined {
  const full = join(ROOT, path);
  return existsSync(full) ? readFileSync(full, "utf8") : undefined;
}

process.exitCode = await main();
