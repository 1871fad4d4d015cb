import { asFlintError, isId, type Params, type Result, type Thread, type Turn } from "@flint/protocol";
import type { CoreCalls } from "../../shared/core-calls.ts";
import type { RequestContext } from "../../shared/frontend.ts";
import type { AcpParams } from "../requests.ts";
import { sessionNotFound } from "../vocabulary.ts";

/** The number of turns that are read at once. */
export const TURNS_PER_PAGE = 100;
const SESSIONS_PER_PAGE = 100;
const LONGEST_TITLE = 200;

type SessionMethod = "thread/attach" | "thread/read" | "thread/fork" | "thread/delete" | "thread/name/set";

/** The thread of a session. Throws `threadNotFound` for anything that is not a thread id, so that ids are never paths. */
export function threadIdFor(sessionId: string): string {
  if (isId(sessionId)) return sessionId;
  throw sessionNotFound(sessionId);
}

/** Calls the core about a session. An unknown thread is reported as an unknown session. */
export async function callForSession<Name extends SessionMethod>(
  core: CoreCalls,
  method: Name,
  params: Params<Name>,
  respond: (result: Result<Name>) => void,
): Promise<void> {
  await core.call(method, params, respond).catch((error: unknown) => {
    throw asFlintError(error).kind === "threadNotFound" ? sessionNotFound(params.threadId) : error;
  });
}

/** Handles `session/list`. */
export async function listSessions(
  { cwd, cursor }: AcpParams<"session/list">,
  { core, reply }: RequestContext,
): Promise<void> {
  const filter = { limit: SESSIONS_PER_PAGE, ...(cwd ? { cwd } : {}), ...(cursor ? { cursor } : {}) };
  const { data, nextCursor } = await core.call("thread/list", filter);
  reply({ sessions: data.map(infoOf), ...(nextCursor === undefined ? {} : { nextCursor }) });
}

/** Handles `session/status`. */
export async function sessionStatus(
  { sessionId }: AcpParams<"session/status">,
  { core, reply }: RequestContext,
): Promise<void> {
  await callForSession(core, "thread/read", { threadId: threadIdFor(sessionId) }, ({ thread }) =>
    reply({ status: thread.status.type === "notLoaded" ? "saved" : "open" }),
  );
}

/** Handles `session/set_title`. */
export async function setSessionTitle(
  { sessionId, title }: AcpParams<"session/set_title">,
  { core, reply }: RequestContext,
): Promise<void> {
  const params = { threadId: threadIdFor(sessionId), name: title };
  await callForSession(core, "thread/name/set", params, () => reply({ title }));
}

function infoOf({ id, cwd, name, preview, updatedAt }: Thread): object {
  const title = name ?? preview;
  const titled = title === "" ? {} : { title: title.slice(0, LONGEST_TITLE) };
  return { sessionId: id, cwd, ...titled, updatedAt: new Date(updatedAt * 1000).toISOString() };
}

/** All stored turns of a thread, oldest first. */
export async function storedTurns(core: CoreCalls, threadId: string): Promise<readonly Turn[]> {
  const pages: Turn[][] = [];
  let cursor: string | undefined;
  do {
    const params = { threadId, includeTurns: true, limit: TURNS_PER_PAGE, ...(cursor ? { cursor } : {}) };
    cursor = undefined;
    await callForSession(core, "thread/read", params, ({ turns, nextCursor }) => {
      pages.unshift([...(turns ?? [])]);
      cursor = nextCursor;
    });
  } while (cursor !== undefined);
  return pages.flat();
}

/** The stored turns, with those that attaching returned in their present state. */
export function mergedHistory(stored: readonly Turn[], attached: readonly Turn[]): readonly Turn[] {
  const newer = new Set(attached.map(({ id }) => id));
  return [...stored.filter(({ id }) => !newer.has(id)), ...attached];
}
