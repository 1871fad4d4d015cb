/** The exit codes of `flint`, for every command. */
export const EXIT_CODES = {
  0: "success",
  1: "the agent failed, or the command failed",
  2: "usage error",
  3: "completed, but an action was declined by a rule or because no one could approve it",
  4: "the answer does not match --output-schema",
  5: "a limit was reached (--max-cost, --max-tokens, --max-time, --max-steps, budget)",
  6: "the turn was interrupted by another client, or because the server stopped",
  10: "a task needs you (flint tasks watch)",
  11: "a task is suspended (flint tasks watch)",
  130: "interrupted with Ctrl-C",
  141: "output pipe closed",
  143: "terminated by a signal",
} as const;

/** A code that `flint` exits with. */
export type ExitCode = keyof typeof EXIT_CODES;

/**
 * The reason this program stopped a turn: a signal, a closed output pipe, or output that cannot be written.
 */
export type StopCause = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGPIPE" | "outputFailed";

/** The code for each cause. */
export const STOP_CODES: Readonly<Record<StopCause, ExitCode>> = {
  SIGINT: 130,
  SIGTERM: 143,
  SIGHUP: 143,
  SIGPIPE: 141,
  outputFailed: 1,
};

/** The outcome of a turn. */
export interface TurnOutcome {
  readonly status: "completed" | "interrupted" | "failed" | "inProgress";
  /** The event that made this program stop it, if any. */
  readonly cause?: StopCause | undefined;
  /** The reason it failed, by the name of the error. */
  readonly errorInfo?: string | undefined;
  /** True if it went beyond a limit that could be checked only after its end. */
  readonly wentOverLimit?: boolean;
  /** True if something was declined because no user could be asked. */
  readonly declinedUnattended: boolean;
  /** True if the answer matches the schema; undefined without one. */
  readonly matchesSchema?: boolean | undefined;
}

/** The exit code of a turn. A signal weighs most, then the turn itself, then its answer. */
export function exitCodeOf(outcome: TurnOutcome): ExitCode {
  const { status, cause, errorInfo = "", declinedUnattended, wentOverLimit, matchesSchema } = outcome;
  if (cause === "outputFailed" || (cause !== undefined && status !== "completed")) return STOP_CODES[cause];
  if (status === "interrupted" || status === "inProgress") return 6;
  if (status === "failed") return FAILURE_CODES.get(errorInfo) ?? 1;
  if (wentOverLimit === true) return 5;
  if (matchesSchema === false) return 4;
  return declinedUnattended ? 3 : 0;
}

/** The codes of failures that have one of their own, whichever agent reports them. */
const FAILURE_CODES: ReadonlyMap<string, ExitCode> = new Map([
  ["BudgetExceeded", 5],
  ["SchemaMismatch", 4],
  ["ServerStopped", 6],
]);

/** The exit code of a command that ends with an error before or without a turn. */
export function errorCodeOf(error: unknown): ExitCode {
  return error instanceof Error && "kind" in error && error.kind === "budgetExceeded" ? 5 : 1;
}
