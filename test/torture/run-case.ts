import { errorMessage } from "@flint/protocol";
import { isRequired } from "@flint/testkit";
import { type Measurements, SkippedCase, type TortureCase } from "./case.ts";
import { Context, Ledger } from "./context.ts";
import { brokenPromises } from "./figures.ts";

/** The outcome of a case. */
export interface Verdict {
  readonly result: "passed" | "failed" | "skipped";
  readonly figures: Measurements;
  /** The reason it failed or was skipped. */
  readonly reasons: readonly string[];
}

const MOST_FAULTS_SHOWN = 5;
const LONGEST_CASE_MS = 180_000;

/** Runs one case, ends all that it started, and judges what it measured. */
export async function runCase(torture: TortureCase, short: boolean, ledger = new Ledger()): Promise<Verdict> {
  const context = new Context(short, ledger);
  let figures: Measurements = [];
  const reasons: string[] = [];
  let skipped = false;
  try {
    figures = await withinLimit(torture.run(context));
  } catch (error) {
    // A failed assertion, or a machine that cannot do this; both are results.
    skipped = error instanceof SkippedCase && !isRequired(error.part);
    reasons.push(errorMessage(error));
  }
  const faults = (await context.close()).slice(0, MOST_FAULTS_SHOWN);
  if (skipped) return { result: "skipped", figures, reasons };
  reasons.push(
    ...brokenPromises(figures, short),
    ...faults.map((fault) => `a line on stdout is no protocol message, ${fault}`),
  );
  return { result: reasons.length === 0 ? "passed" : "failed", figures, reasons };
}

/** Nothing that a server does or leaves undone may keep the others from being looked at. */
async function withinLimit(running: Promise<Measurements>): Promise<Measurements> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    const late = new Error(`the case did not end within ${LONGEST_CASE_MS / 1_000} s`);
    timer = setTimeout(() => reject(late), LONGEST_CASE_MS);
  });
  return Promise.race([running, limit]).finally(() => clearTimeout(timer));
}
