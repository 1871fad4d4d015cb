import { errorMessage } from "@flint/protocol";
import type { FrontendName } from "@flint/server/frontends";
import type { TestContext } from "./test-context.ts";
import { NotOffered } from "./wire/pattern.ts";
import type { Entry } from "./wire/wire.ts";

/** One thing that a server must do, as a sentence, and how to test it. */
export interface Check {
  readonly name: string;
  /** Resolves if the server does it. Throws `Failed` if it does not, and `NotOffered` if it cannot be tested. */
  run(trial: TestContext): Promise<void>;
}

/** Checks of one area. */
export interface CheckGroup {
  readonly about: string;
  readonly checks: readonly Check[];
}

/** All checks of one protocol. */
export interface Suite {
  readonly protocol: FrontendName;
  /** True if messages of this protocol carry `"jsonrpc": "2.0"`. */
  readonly header: boolean;
  readonly groups: readonly CheckGroup[];
  /** Differences that two servers of this protocol may have. */
  readonly tolerances: Tolerances;
}

/** Differences that no client notices. */
export interface Tolerances {
  /** Messages that may be there or not; by prefix of their name. */
  readonly optionalMessages: readonly string[];
  /** Messages that have an order only among themselves, because they come from another task; by prefix of their name. */
  readonly unordered: readonly string[];
  /** The compared part of an error: its code and first words, or only its existence. */
  readonly errors: "words" | "fact";
  /** Fields that may be missing, as `KIND.field.field`; `*` stands for any kind. */
  readonly optionalFields: readonly string[];
}

/** The outcome of a check. */
export type Outcome = "passed" | "failed" | "not offered";

/** One check and how it ended. */
export interface CheckResult {
  readonly about: string;
  readonly name: string;
  readonly outcome: Outcome;
  /** The reason, unless it passed. */
  readonly reason: string | undefined;
  /** The messages on each connection in it. */
  readonly conversations: readonly (readonly Entry[])[];
}

/** Runs the checks of a suite in order and reports each as it ends. */
export async function runSuite(
  { groups }: Pick<Suite, "groups">,
  trial: TestContext,
  report: (result: CheckResult) => void,
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const { about, checks } of groups) {
    for (const check of checks) {
      const result = await runCheck(about, check, trial);
      results.push(result);
      report(result);
    }
  }
  await trial.finish();
  return results;
}

async function runCheck(about: string, check: Check, trial: TestContext): Promise<CheckResult> {
  trial.begin();
  const { outcome, reason } = await outcomeOf(check, trial);
  const conversations = trial.conversations();
  trial.end(outcome === "passed");
  return { about, name: check.name, outcome, reason, conversations };
}

async function outcomeOf(check: Check, trial: TestContext): Promise<Pick<CheckResult, "outcome" | "reason">> {
  // The one place where a check that throws becomes a finding, whatever it threw.
  try {
    await check.run(trial);
    return { outcome: "passed", reason: undefined };
  } catch (thrown) {
    const reason = errorMessage(thrown);
    return { outcome: thrown instanceof NotOffered ? "not offered" : "failed", reason };
  }
}

/** The groups with only those checks whose group or sentence has the text in it. */
export function selected(groups: readonly CheckGroup[], only: string | undefined): CheckGroup[] {
  if (only === undefined) return [...groups];
  const requested = only.toLowerCase();
  const has = (text: string): boolean => text.toLowerCase().includes(requested);
  const found = groups.map(({ about, checks }) => ({
    about,
    checks: has(about) ? checks : checks.filter(({ name }) => has(name)),
  }));
  return found.filter(({ checks }) => checks.length > 0);
}
