/** The exit codes of `flint`, for every command. */
export const EXIT_CODES = {
  0: "success",
  1: "the turn failed or was interrupted, or the command failed",
  2: "usage error",
  3: "completed, but an action was declined because no one could approve it",
  4: "the answer does not match --output-schema",
  130: "interrupted with Ctrl-C",
  141: "output pipe closed",
  143: "terminated by a signal",
} as const;

/** A code that `flint` exits with. */
export type ExitCode = keyof typeof EXIT_CODES;

/** Why this program stopped a turn: a signal, a closed output pipe, or output that cannot be written. */
export type StopCause = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGPIPE" | "outputFailed";

const STOP_CODES: Readonly<Record<StopCause, ExitCode>> = {
  SIGINT: 130,
  SIGTERM: 143,
  SIGHUP: 143,
  SIGPIPE: 141,
  outputFailed: 1,
};

/** How a turn ended. */
export interface TurnOutcome {
  readonly status: "completed" | "interrupted" | "failed" | "inProgress";
  /** What made this program stop it, if anything did. */
  readonly cause?: StopCause | undefined;
  /** Whether something was declined because no user could be asked. */
  readonly declinedUnattended: boolean;
  /** Whether the answer matches the schema; undefined without one. */
  readonly matchesSchema?: boolean | undefined;
}

/** The exit code of a turn. A signal weighs most, then the turn itself, then its answer. */
export function exitCodeOf({ status, cause, declinedUnattended, matchesSchema }: TurnOutcome): ExitCode {
  if (cause === "outputFailed" || (cause !== undefined && status !== "completed")) return STOP_CODES[cause];
  if (status !== "completed") return 1;
  if (matchesSchema === false) return 4;
  return declinedUnattended ? 3 : 0;
}
