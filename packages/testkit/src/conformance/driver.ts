import { describe, test } from "vitest";
import { DRIVER_CHECKS, type DriverCheck } from "./driver-checks.ts";
import { FURTHER_DRIVER_CHECKS } from "./driver-further-checks.ts";
import type { MakeDriver } from "./driver-trial.ts";

export {
  type Absent,
  absent,
  type DriverGives,
  type DriverPrompts,
  type DriverUnderTest,
  type FileChangeTrial,
  type ForkTrial,
  type ModelFailureKind,
  type OtherModelTrial,
  type RecallTrial,
  type SessionApprovalTrial,
  type SteeringTrial,
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

/** What can be left out where no model can be made to fail. */
export const MODEL_FAILURES = [
  "survives a request that its model refuses",
  "survives a model that asks it to wait",
  "survives a model that is overloaded",
  "survives an answer of its model that breaks off",
] as const;

/** Some checks start a real agent several times, and the machine may be busy with others. */
const PATIENCE_MS = 90_000;

/**
 * One suite for every driver: what the core relies on, whatever the agent behind it is, and what users are promised of
 * every agent. What an agent cannot be tried in is left out by name with `checksWithout`; its `gives` says why.
 */
export function describeDriver(name: string, make: MakeDriver, checks: DriverChecks = ALL_CHECKS): void {
  describe(`${name}, as any driver`, () => {
    for (const [title, check] of Object.entries(checks)) {
      test(title, () => check(make), PATIENCE_MS);
    }
  });
}
