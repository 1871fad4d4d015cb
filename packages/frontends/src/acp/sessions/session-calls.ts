import { asFlintError, isId, type Params, type Result, type Turn } from "@flint/protocol";
import type { Client } from "../../shared/frontend.ts";
import { answerOf } from "../core.ts";
import { sessionNotFound } from "../errors.ts";

/** How many turns are asked for at once. */
export const TURNS_OF_A_PAGE = 100;

type SessionMethod = "thread/attach" | "thread/read" | "thread/fork" | "thread/delete" | "thread/name/set";

/** Ids of threads look like ids of threads; anything else is no session, and never a path. */
export function threadOf(sessionId: string): string {
  if (isId(sessionId)) return sessionId;
  throw sessionNotFound(sessionId);
}

/**
 * Calls the core about a session; one that is not there is named in the words of this door. `respond` gets the result
 * before any event that the call causes is told.
 */
export async function callAbout<Name extends SessionMethod>(
  client: Client,
  method: Name,
  params: Params<Name>,
  respond: (result: Result<Name>) => void,
): Promise<void> {
  await client.core.call(method, params, respond).catch((error: unknown) => {
    throw asFlintError(error).kind === "threadNotFound" ? sessionNotFound(params.threadId) : error;
  });
}

/** Stops what runs in a thread, if anything does. */
export async function interrupt(client: Client, threadId: string): Promise<void> {
  await answerOf(client, "turn/interrupt", { threadId }).catch((error: unknown) => {
    if (asFlintError(error).kind !== "notRunning") throw error;
  });
}

/** All turns that are stored of a thread, oldest first. */
export async function storedTurns(client: Client, threadId: string): Promise<readonly Turn[]> {
  const pages: Turn[][] = [];
  let cursor: string | undefined;
  do {
    const params = { threadId, includeTurns: true, limit: TURNS_OF_A_PAGE, ...(cursor ? { cursor } : {}) };
    cursor = undefined;
    await callAbout(client, "thread/read", params, ({ turns, nextCursor }) => {
      pages.unshift([...(turns ?? [])]);
      cursor = nextCursor;
    });
  } while (cursor !== undefined);
  return pages.flat();
}

/** What was stored before, with what attaching told since in its place. */
export function wholeHistory(stored: readonly Turn[], attached: readonly Turn[]): readonly Turn[] {
  const told = new Set(attached.map(({ id }) => id));
  return [...stored.filter(({ id }) => !told.has(id)), ...attached];
}
