import { LIMITS, type Params, type Thread } from "@flint/protocol";
import type { CodexClientParams, CodexThread } from "@flint/protocol/codex";
import { encodedTurn, withTurns } from "../encoded-answer.ts";
import { eachTurn, itemsPage, turnsPage } from "../pages.ts";
import { present } from "../present.ts";
import { threadOf } from "../threads.ts";
import type { Handlers } from "../visit.ts";

const USUAL_PAGE = 25;

/** Reading what there is. */
export const historyRequests: Handlers<
  "thread/read" | "thread/list" | "thread/loaded/list" | "thread/turns/list" | "thread/items/list"
> = {
  async "thread/read"({ threadId, includeTurns }, visit, reply) {
    const turns = includeTurns === true ? await eachTurn(visit, threadId, encodedTurn) : [];
    const { thread } = await visit.client.core.call("thread/read", { threadId });
    reply(withTurns({ thread: threadOf(thread, null), readState: null }, turns));
  },

  async "thread/list"(params, visit, reply) {
    if (asksForWhatFlintHasNot(params)) return reply({ ...NOTHING });
    const { data, nextCursor } = await visit.client.core.call("thread/list", listParams(params));
    const listed = data.filter((thread) => isWanted(thread, params)).map(listedThread);
    reply({ ...NOTHING, data: listed, nextCursor: nextCursor ?? null });
  },

  async "thread/loaded/list"(_params, visit, reply) {
    const { data } = await visit.client.core.call("thread/loaded/list", {});
    reply({ data, nextCursor: null });
  },

  async "thread/turns/list"(params, visit, reply) {
    reply(await turnsPage(params, visit));
  },

  async "thread/items/list"(params, visit, reply) {
    reply(await itemsPage(params, visit));
  },
};

/** A list does not say whether one could write into a thread. */
function listedThread(thread: Thread): CodexThread {
  return { ...threadOf(thread, null), canAcceptDirectInput: null };
}

const NOTHING = { data: [], readStates: {}, nextCursor: null, backwardsCursor: null };

type ListParams = CodexClientParams<"thread/list">;

/** Sections, projects and threads below others: no thread of Flint is in one. */
function asksForWhatFlintHasNot(params: ListParams): boolean {
  const { sectionId, projectId, parentThreadId, ancestorThreadId, attachedToThreadId } = params;
  const asked = [sectionId, projectId, parentThreadId, ancestorThreadId, attachedToThreadId];
  return asked.some((id) => id != null);
}

function listParams({
  cursor,
  limit,
  archived,
  searchTerm,
  cwd,
  sortKey,
  sortDirection,
}: ListParams): Params<"thread/list"> {
  const folders = typeof cwd === "string" ? [cwd] : (cwd ?? []);
  const [folder] = folders;
  return {
    ...present({ cursor, archived, searchTerm, sortDirection }),
    limit: Math.min(Math.max(1, Math.floor(limit ?? USUAL_PAGE)), LIMITS.threads),
    sortKey: sortKey === "created_at" ? "createdAt" : "updatedAt",
    ...(folders.length === 1 && folder !== undefined ? { cwd: folder } : {}),
  };
}

/** Codex lists no thread in which nobody has said anything yet. */
function isWanted(thread: Thread, { cwd, excludedThreadIds, modelProviders }: ListParams): boolean {
  if (thread.preview === "") return false;
  if (excludedThreadIds?.includes(thread.id)) return false;
  if (Array.isArray(cwd) && cwd.length > 1 && !cwd.includes(thread.cwd)) return false;
  return (
    modelProviders == null || modelProviders.length === 0 || modelProviders.includes(thread.modelProvider)
  );
}
