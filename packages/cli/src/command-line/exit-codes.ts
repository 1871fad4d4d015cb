/** What the exit code of `flint` tells, for every command. */
export const EXIT_CODES = {
  0: "done",
  1: "the turn failed or was interrupted, or the command did not work",
  2: "wrong use",
  3: "done, but something was declined because nobody could be asked",
  4: "the answer does not fit --output-schema",
  130: "interrupted by Ctrl-C",
  141: "nobody reads the output any more",
  143: "ended by a signal",
} as const;

/** A number that `flint` exits with. */
export type ExitCode = keyof typeof EXIT_CODES;

/** Why a turn was stopped from here: a signal, or the end of the one who read its output. */
export type StopCause = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGPIPE";

const STOP_CODES: Readonly<Record<StopCause, ExitCode>> = {
  SIGINT: 130,
  SIGTERM: 143,
  SIGHUP: 143,
  SIGPIPE: 141,
};

/** How a turn ended for the one who ran it. */
export interface TurnEnding {
  readonly status: "completed" | "interrupted" | "failed" | "inProgress";
  /** What made this program stop it, if something did. */
  readonly cause?: StopCause | undefined;
  /** Whether something was declined because nobody could be asked. */
  readonly unasked: boolean;
  /** Whether the answer is what the schema asks for; undefined without one. */
  readonly fitsSchema?: boolean | undefined;
}

/** The exit code of a turn. A signal weighs most, then the turn itself, then its answer. */
export function exitCodeOf({ status, cause, unasked, fitsSchema }: TurnEnding): ExitCode {
  if (cause !== undefined && status !== "completed") return STOP_CODES[cause];
  if (status !== "completed") return 1;
  if (fitsSchema === false) return 4;
  return unasked ? 3 : 0;
}
