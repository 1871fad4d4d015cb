import { afterAll, beforeAll, describe, test } from "vitest";
import { DRIVER_CHECKS, type DriverCheck } from "./driver-checks.ts";
import { FURTHER_DRIVER_CHECKS } from "./driver-further-checks.ts";
import { isolatedFixture, type MakeDriver } from "./driver-trial.ts";
import { SharedSession } from "./shared-session.ts";

export {
  type Absent,
  type CleanUp,
  type DriverFeatures,
  type DriverPrompts,
  type DriverUnderTest,
  type FileChangeTrial,
  type ForkTrial,
  type ModelFailureKind,
  type OtherModelTrial,
  type RecallTrial,
  type SessionApprovalTrial,
  type SteeringTrial,
  unsupported,
} from "./driver-under-test.ts";

/** Checks by the sentence that each of them proves. */
export type DriverChecks = Readonly<Record<string, DriverCheck>>;

const ALL_CHECKS = { ...DRIVER_CHECKS, ...FURTHER_DRIVER_CHECKS };

/** All checks but those that an agent cannot be tried in. */
export function checksWithout(...titles: readonly (keyof typeof ALL_CHECKS)[]): DriverChecks {
  // The keys of a table of ours; Object.entries forgets that.
  const entries = Object.entries(ALL_CHECKS) as [keyof typeof ALL_CHECKS, DriverCheck][];
  return Object.fromEntries(entries.filter(([title]) => !titles.includes(title)));
}

/** Checks that can be left out where no model can be made to fail. */
export const MODEL_FAILURES = [
  "survives a request that its model refuses",
  "survives a model that asks it to wait",
  "survives a model that is overloaded",
  "survives an answer of its model that breaks off",
] as const;

/**
 * Checks that do not depend on what was said before in their session, nor leave anything in it that others notice. Only one
 * of them reads a file: Claude Code 2.1.197 answers a second read of the same text with a reference to the first.
 */
const IN_ANY_SESSION: ReadonlySet<string> = new Set<keyof typeof ALL_CHECKS>([
  "answers with text, every item whole and in order, and says what was used",
  "requests approval before it acts, and acts when allowed",
  "does not act when denied",
  "stops while it waits for an answer, and does not act",
  "does nothing in a turn that was stopped before it began",
  "takes further input while it runs, and none afterwards, if it can be steered",
  "does the next turn after one that was stopped",
  "changes a file exactly as it showed before",
  "answers what is steered into a running turn",
  "uses another model from the turn on that names it",
  "takes every value that its selectors offer",
  ...MODEL_FAILURES,
]);

/** Some checks start a real agent several times, and the machine may be busy with others. */
const PATIENCE_MS = 90_000;

/** Options of a run of the suite. */
export interface DriverSuiteOptions {
  /** The checks to run; all if absent. */
  readonly checks?: DriverChecks;
  /** True if the checks that work in any session share one, for agents that take long to start. */
  readonly sharesSession?: boolean;
}

/**
 * One suite for every driver: what the core relies on, whatever the agent behind it is, and what users are promised of
 * every agent. What an agent cannot be tried in is left out by name with `checksWithout`; its `features` says why.
 */
export function describeDriver(name: string, make: MakeDriver, options: DriverSuiteOptions = {}): void {
  const { checks = ALL_CHECKS, sharesSession = false } = options;
  const isShared = ([title]: [string, DriverCheck]) => sharesSession && IN_ANY_SESSION.has(title);
  const all = Object.entries(checks);
  describe(`${name}, as any driver`, () => {
    if (sharesSession) describeInOneSession(make, all.filter(isShared));
    for (const [title, check] of all.filter((entry) => !isShared(entry))) {
      test(title, () => check(() => isolatedFixture(make)), PATIENCE_MS);
    }
  });
}

function describeInOneSession(make: MakeDriver, checks: readonly [string, DriverCheck][]): void {
  describe("in one session", () => {
    const shared = new SharedSession(make);
    beforeAll(() => shared.start());
    afterAll(() => shared.close());
    for (const [title, check] of checks) test(title, () => check(() => shared.arrange()), PATIENCE_MS);
  });
}
