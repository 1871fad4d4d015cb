/**
 * Every way a request can fail, by a stable name. The name travels as `data.reason`; the number belongs to the
 * wire (see each vocabulary's `errorCodes`), because the same number means different things on different wires.
 */
export const ERROR_KINDS = {
  parseError: "The line is not JSON, not UTF-8, or too long.",
  invalidRequest: "The message is JSON but not a request.",
  methodNotFound: "No such method in this protocol.",
  invalidParams: "The params are invalid; the message names the field.",
  internalError: "An error in Flint itself.",
  notInitialized: "`initialize` must come first.",
  alreadyInitialized: "`initialize` was already answered on this connection.",
  threadNotFound: "No thread has this id.",
  turnInProgress: "A turn is running in the thread; `data.activeTurnId` names it.",
  notRunning: "No turn is running.",
  turnNotFound: "The thread has no turn with this id.",
  approvalNotFound: "No open approval, question or tool call has this id; it may have been answered already.",
  queuedInputNotFound: "The queue of the thread has no input with this id.",
  threadLocked: "Another process has this thread open.",
  storageFailed: "The log could not be written.",
  unsupported: "The agent of this thread cannot do that.",
  sandboxUnavailable: "The sandbox that the policy requires is not available on this machine.",
  agentFailed: "The agent could not be started or did not answer.",
  budgetExceeded: "A limit of the thread's budget is reached; the message names it.",
  overloaded: "Too many requests are in progress; try again later.",
} as const;

/** The stable name of an error. */
export type ErrorKind = keyof typeof ERROR_KINDS;

/** The data of an error; `reason` is added when it is sent. */
export type ErrorData = Readonly<Record<string, unknown>>;

/** An error that is sent to the client that made the request. The message is for users: it names the problem and what to do. */
export class FlintError extends Error {
  readonly kind: ErrorKind;
  readonly data: ErrorData;

  constructor(kind: ErrorKind, message: string, data: ErrorData = {}, options?: ErrorOptions) {
    super(message, options);
    this.name = "FlintError";
    this.kind = kind;
    this.data = data;
  }
}

/** Any thrown value as a FlintError; what is not one becomes `internalError` with the value as its cause. */
export function asFlintError(thrown: unknown): FlintError {
  if (thrown instanceof FlintError) return thrown;
  return new FlintError("internalError", `Flint failed: ${errorMessage(thrown)}`, {}, { cause: thrown });
}

/** The message of any thrown value. */
export function errorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
