import { ERROR_KINDS, type ErrorData, type ErrorKind, FLINT, isRecord, type Turn } from "@flint/protocol";
import type { RemoteError } from "@flint/rpc";

/** The server refused a request. `kind` is its stable name, "unknown" for one that this SDK does not know. */
export class FlintRequestError extends Error {
  override readonly name = "FlintRequestError";
  readonly method: string;
  readonly kind: ErrorKind | "unknown";
  readonly code: number;
  readonly data: ErrorData;

  constructor(error: RemoteError) {
    super(error.message, { cause: error });
    this.method = error.method;
    this.code = error.code;
    this.data = isRecord(error.data) ? error.data : {};
    this.kind = kindOf(error.code, this.data.reason);
  }
}

/**
 * The reason there is no answer: the connection ended, its process failed, time ran out, or the answer is
 * malformed.
 */
export type ConnectionFailure = "closed" | "spawnFailed" | "exited" | "timedOut" | "badAnswer";

/** The server could not be asked, or did not answer in a usable way. `stderr` holds its last lines, if it was started here. */
export class FlintConnectionError extends Error {
  override readonly name = "FlintConnectionError";
  readonly kind: ConnectionFailure;
  readonly stderr: string;

  constructor(
    kind: ConnectionFailure,
    message: string,
    details: { readonly stderr?: string; readonly cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    this.stderr = details.stderr ?? "";
  }
}

/** The part of a turn that failed: the turn itself, its interruption, a refused request, or the connection. */
export type TurnFailure = "turn" | "interrupted" | "request" | "connection" | "other";

/** A turn failed. `turn` is set when the server reported how it ended. */
export class TurnFailedError extends Error {
  override readonly name = "TurnFailedError";
  readonly kind: TurnFailure;
  readonly threadId: string | undefined;
  readonly turn: Turn | undefined;

  constructor(
    kind: TurnFailure,
    message: string,
    details: { readonly threadId?: string | undefined; readonly turn?: Turn; readonly cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    this.threadId = details.threadId;
    this.turn = details.turn;
  }
}

/** A reader of events fell too far behind. `lastSeqs` has, by thread, the last event it has seen. */
export class EventsLaggedError extends Error {
  override readonly name = "EventsLaggedError";
  readonly lastSeqs: ReadonlyMap<string, number>;

  constructor(limit: number, lastSeqs: ReadonlyMap<string, number>) {
    const positions = [...lastSeqs].map(([threadId, seq]) => `${threadId} after seq ${seq}`).join(", ");
    super(
      `More than ${limit} characters of events waited to be read, so they were dropped. ` +
        `Attach again${positions === "" ? "" : ` from where reading stopped: ${positions}`}.`,
    );
    this.lastSeqs = lastSeqs;
  }
}

function kindOf(code: number, reason: unknown): ErrorKind | "unknown" {
  if (typeof reason === "string") return isErrorKind(reason) ? reason : "unknown";
  const named = Object.entries(FLINT.errorCodes).find(([, number]) => number === code)?.[0];
  return named !== undefined && isErrorKind(named) ? named : "unknown";
}

function isErrorKind(name: string): name is ErrorKind {
  return Object.hasOwn(ERROR_KINDS, name);
}

/** A problem that was ignored safely. */
export type Warning = {
  readonly kind:
    | "malformedLine"
    | "malformedNotification"
    | "malformedRequest"
    | "unknownRequest"
    | "handlerFailed"
    | "damagedFile";
  readonly message: string;
};

/** Receives warnings. */
export type OnWarning = (warning: Warning) => void;

type Issues = {
  readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
};

/** The problem with a message, naming the first few fields. */
export function problemOf(error: Issues): string {
  const named = error.issues.slice(0, 3).map(({ path, message }) => {
    const field = path.map(String).join(".");
    return field === "" ? message : `${field}: ${message}`;
  });
  return named.join("; ");
}
