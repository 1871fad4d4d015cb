import { LIMITS, type Params, type Thread } from "@flint/protocol";
import type { CodexClientParams, CodexThread } from "@flint/protocol/codex";
import { threadOf } from "../events/threads.ts";
import { encodeTurn, encodeWithTurns } from "../wire/encoding.ts";
import { given } from "../wire/parse-request.ts";
import type { Handlers } from "./handler.ts";
import { eachTurn, itemsPage, turnsPage } from "./pages.ts";

const DEFAULT_PAGE = 25;

/** Reading and listing threads, turns and items. */
export const history: Handlers<
  "thread/read" | "thread/list" | "thread/loaded/list" | "thread/turns/list" | "thread/items/list"
> = {
  async "thread/read"({ threadId, includeTurns }, { core, replyEncoded }) {
    const turns = includeTurns === true ? await eachTurn(core, threadId, encodeTurn) : [];
    const { thread } = await core.call("thread/read", { threadId });
    replyEncoded(encodeWithTurns({ thread: threadOf(thread, null), readState: null }, turns));
  },

  async "thread/list"(params, { core, reply }) {
    if (filtersByMissing(params)) return reply({ ...NO_THREADS });
    const { data, nextCursor } = await core.call("thread/list", listParams(params));
    const listed = data.filter((thread) => matches(thread, params)).map(listedThread);
    reply({ ...NO_THREADS, data: listed, nextCursor: nextCursor ?? null });
  },

  async "thread/loaded/list"(_params, { core, reply }) {
    const { data } = await core.call("thread/loaded/list", {});
    reply({ data, nextCursor: null });
  },

  async "thread/turns/list"(params, { core, reply }) {
    reply(await turnsPage(params, core));
  },

  async "thread/items/list"(params, { core, reply }) {
    reply(await itemsPage(params, core));
  },
};

/** A list does not say whether a thread takes input. */
function listedThread(thread: Thread): CodexThread {
  return { ...threadOf(thread, null), canAcceptDirectInput: null };
}

const NO_THREADS = { data: [], readStates: {}, nextCursor: null, backwardsCursor: null };

type ListParams = CodexClientParams<"thread/list">;

/** Whether a list is of a section, a project or child threads, none of which Flint has. */
function filtersByMissing(params: ListParams): boolean {
  const { sectionId, projectId, parentThreadId, ancestorThreadId, attachedToThreadId } = params;
  const filters = [sectionId, projectId, parentThreadId, ancestorThreadId, attachedToThreadId];
  return filters.some((id) => id != null);
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
    ...given({ cursor, archived, searchTerm, sortDirection }),
    limit: Math.min(Math.max(1, Math.floor(limit ?? DEFAULT_PAGE)), LIMITS.threads),
    sortKey: sortKey === "created_at" ? "createdAt" : "updatedAt",
    ...(folders.length === 1 && folder !== undefined ? { cwd: folder } : {}),
  };
}

/** Codex lists no thread without a first message. */
function matches(thread: Thread, { cwd, excludedThreadIds, modelProviders }: ListParams): boolean {
  if (thread.preview === "") return false;
  if (excludedThreadIds?.includes(thread.id)) return false;
  if (Array.isArray(cwd) && cwd.length > 1 && !cwd.includes(thread.cwd)) return false;
  return (
    modelProviders == null || modelProviders.length === 0 || modelProviders.includes(thread.modelProvider)
  );
}
