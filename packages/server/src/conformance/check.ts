import type { FrontendName } from "../frontends.ts";
import type { Latitude } from "./latitude.ts";
import type { Trial } from "./trial.ts";

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
  readonly door: FrontendName;
  /** Whether this door's own messages carry `"jsonrpc": "2.0"`. */
  readonly header: boolean;
  readonly groups: readonly CheckGroup[];
  /** In what two servers of this door may differ. */
  readonly latitude: Latitude;
}
