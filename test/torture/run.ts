import { parseArgs } from "node:util";
import { searchPath } from "@flint/testkit";
import { buildPrograms } from "../server/build.ts";
import type { TortureCase } from "./case.ts";
import { CASES, OTHER_CASES } from "./cases.ts";
import { Ledger } from "./context.ts";
import { describeFigure } from "./figures.ts";
import { runCase, type Verdict } from "./run-case.ts";

// Provokes the safety cases against real server processes and measures what they promise.
// npm run torture [-- --short] [--only P09,P10] [--untested: without the cases that `npm test` runs]
const MARKS = { passed: "pass", failed: "FAIL", skipped: "skip" } as const;

async function main(): Promise<void> {
  const options = {
    short: { type: "boolean" },
    only: { type: "string" },
    untested: { type: "boolean" },
  } as const;
  const { short = false, only, untested = false } = parseArgs({ options }).values;
  const chosen = choose(only, untested ? OTHER_CASES : CASES);
  process.env.PATH = searchPath();
  await buildPrograms();
  const ledger = new Ledger();
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const torture of chosen) {
    const startedAt = performance.now();
    const verdict = await runCase(torture, short, ledger);
    counts[verdict.result] += 1;
    console.log(row(torture, verdict, (performance.now() - startedAt) / 1_000));
  }
  console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  process.exitCode = counts.failed === 0 && counts.passed + counts.skipped > 0 ? 0 : 1;
}

function choose(only: string | undefined, all: readonly TortureCase[]): readonly TortureCase[] {
  if (only === undefined) return all;
  const requested = only.split(",").map((id) => id.trim().toUpperCase());
  const unknown = requested.filter((id) => !CASES.some((torture) => torture.id === id));
  if (unknown.length > 0) {
    throw new Error(
      `There is no case ${unknown.join(", ")}. There are: ${CASES.map(({ id }) => id).join(", ")}.`,
    );
  }
  return CASES.filter((torture) => requested.includes(torture.id));
}

function row({ id, title }: TortureCase, { result, figures, reasons }: Verdict, seconds: number): string {
  const figuresText = figures.map(describeFigure).join(", ");
  const head = `${id}  ${MARKS[result]}  ${seconds.toFixed(1).padStart(5)} s  ${title}`;
  const lines = [figuresText, ...reasons.map((reason) => `${result}: ${indented(reason)}`)];
  return [head, ...lines.filter((line) => line !== "").map((line) => `                     ${line}`)].join(
    "\n",
  );
}

function indented(reason: string): string {
  return reason.trim().replaceAll("\n", "\n                       ");
}

// What a case started is ended and removed at the exit of this process, which a signal alone would leave out.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
await main();
