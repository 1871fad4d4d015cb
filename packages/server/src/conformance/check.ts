import type { Latitude } from "./latitude.ts";
import type { Trial } from "./trial.ts";

/** The front doors that there are suites for. */
export const DOORS = ["codex", "acp", "flint", "harness"] as const;

/** The name of a front door. */
export type DoorName = (typeof DOORS)[number];

/** One thing that a server has to do, said as a sentence, and how it is tried. */
export interface Check {
  readonly name: string;
  /** Resolves if the server does it. Throws `Failed` if it does not, and `NotOffered` if that cannot be known. */
  run(trial: Trial): Promise<void>;
}

/** Checks about one matter. */
export interface CheckGroup {
  readonly about: string;
  readonly checks: readonly Check[];
}

/** Everything that is asked of one door. */
export interface Suite {
  readonly door: DoorName;
  /** Whether this door's own messages carry `"jsonrpc": "2.0"`. */
  readonly header: boolean;
  readonly groups: readonly CheckGroup[];
  /** In what two servers of this door may differ. */
  readonly latitude: Latitude;
}
