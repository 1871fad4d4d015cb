import { asFlintError, type ErrorKind, FlintError } from "@flint/protocol";

/** A refusal in the very words of the real server. */
export function refused(message: string, kind: ErrorKind = "invalidRequest"): FlintError {
  return new FlintError(kind, message);
}

/**
 * How the real server says that a thread is not there: each group of requests in its own way. Clients that then start
 * anew instead of resuming look for "not found", which its words alone would not tell them.
 */
const NOT_THERE: Readonly<Record<string, (threadId: string) => string>> = {
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

/** What a request names. */
interface Named {
  readonly threadId?: unknown;
  readonly expectedTurnId?: unknown;
  readonly turnId?: unknown;
  readonly cursor?: unknown;
}

/** A failure of the core in the words that the real server has for it; where it has none, in Flint's own. */
export function inCodexWords(thrown: unknown, method: string, params: unknown): FlintError {
  const error = asFlintError(thrown);
  const named: Named = Object(params);
  const message = wordsFor(error, method, named);
  if (message === undefined) return error;
  return new FlintError(error.kind, message, error.data, { cause: error });
}

function wordsFor(error: FlintError, method: string, named: Named): string | undefined {
  switch (error.kind) {
    case "threadNotFound":
      return (NOT_THERE[method] ?? notFound)(String(named.threadId));
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

function notRunning({ data }: FlintError, method: string, named: Named): string | undefined {
  const { activeTurnId } = data;
  if (method === "turn/steer") {
    if (activeTurnId === undefined) return "no active turn to steer";
    return `expected active turn id \`${named.expectedTurnId}\` but found \`${activeTurnId}\``;
  }
  if (method !== "turn/interrupt") return undefined;
  if (activeTurnId === undefined) return "no active turn to interrupt";
  return `expected active turn id ${named.turnId} but found ${activeTurnId}`;
}
