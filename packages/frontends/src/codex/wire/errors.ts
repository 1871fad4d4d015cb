import { asFlintError, type ErrorKind, FlintError } from "@flint/protocol";

/** An error with the message of the real server, which clients match on. */
export function codexError(message: string, kind: ErrorKind = "invalidRequest"): FlintError {
  return new FlintError(kind, message);
}

/**
 * The message of the real server for a missing thread, which differs between requests. Clients that then start a new
 * thread instead of resuming look for "not found", which its own message lacks.
 */
const THREAD_NOT_FOUND: Readonly<Record<string, (threadId: string) => string>> = {
  "thread/resume": (threadId) => `${noRollout(threadId)} (thread not found)`,
  "thread/fork": noRollout,
  "thread/archive": noRollout,
  "thread/delete": noRollout,
  "thread/name/set": noRollout,
  "thread/unarchive": (threadId) => `no archived rollout found for thread id ${threadId}`,
  "thread/read": notLoaded,
  "thread/turns/list": notLoaded,
  "thread/items/list": notLoaded,
};

function noRollout(threadId: string): string {
  return `no rollout found for thread id ${threadId}`;
}

function notLoaded(threadId: string): string {
  return `thread not loaded: ${threadId}`;
}

function notFound(threadId: string): string {
  return `thread not found: ${threadId}`;
}

/** The params of a request that its error messages name. */
interface NamedParams {
  readonly threadId?: unknown;
  readonly expectedTurnId?: unknown;
  readonly turnId?: unknown;
  readonly cursor?: unknown;
}

/** An error of the core with the message of the real server, where that has one. */
export function toCodexError(thrown: unknown, method: string, params: unknown): FlintError {
  const error = asFlintError(thrown);
  const named: NamedParams = Object(params);
  const message = messageFor(error, method, named);
  if (message === undefined) return error;
  return new FlintError(error.kind, message, error.data, { cause: error });
}

function messageFor(error: FlintError, method: string, named: NamedParams): string | undefined {
  switch (error.kind) {
    case "threadNotFound":
      return (THREAD_NOT_FOUND[method] ?? notFound)(String(named.threadId));
    case "turnNotFound":
      return error.data.turnId === undefined ? undefined : `turn not found: ${error.data.turnId}`;
    case "invalidParams":
      return error.data.field === "cursor"
        ? `invalid cursor: ${String(named.cursor).slice(0, 200)}`
        : undefined;
    case "notRunning":
      return notRunning(error, method, named);
    default:
      return undefined;
  }
}

function notRunning({ data }: FlintError, method: string, named: NamedParams): string | undefined {
  const { activeTurnId } = data;
  if (method === "turn/steer") {
    if (activeTurnId === undefined) return "no active turn to steer";
    return `expected active turn id \`${named.expectedTurnId}\` but found \`${activeTurnId}\``;
  }
  if (method !== "turn/interrupt") return undefined;
  if (activeTurnId === undefined) return "no active turn to interrupt";
  return `expected active turn id ${named.turnId} but found ${activeTurnId}`;
}
