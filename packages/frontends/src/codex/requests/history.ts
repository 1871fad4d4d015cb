import { agentOfModel, LIMITS, type Params, stringOf, type Thread, type Turn } from "@flint/protocol";
import type { CodexClientParams, CodexClientResult, CodexThread } from "@flint/protocol/codex";
import type { CoreCalls } from "../../shared/core-calls.ts";
import type { TimedItem } from "../events/items.ts";
import { threadOf } from "../events/threads.ts";
import { itemsOf, listedTurn } from "../events/turns.ts";
import { encodeTurn, encodeWithTurns } from "../wire/encoding.ts";
import { codexError } from "../wire/errors.ts";
import { withoutNullish } from "../wire/values.ts";
import type { Handlers } from "./handler.ts";

const DEFAULT_PAGE = 25;
/** The number of turns that are in memory at a time where all are read. */
const READ_AT_ONCE = 50;

/** Reading and listing threads, turns and items. */
export const history: Handlers<
  "thread/read" | "thread/list" | "thread/loaded/list" | "thread/turns/list" | "thread/items/list"
> = {
  async "thread/read"({ threadId, includeTurns }, { core, replyEncoded }) {
    const turns = includeTurns === true ? await iterateTurns(core, threadId, encodeTurn) : [];
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

/** In a list it is not known whether a thread accepts input. */
function listedThread(thread: Thread): CodexThread {
  return { ...threadOf(thread, null), canAcceptDirectInput: null };
}

const NO_THREADS = { data: [], readStates: {}, nextCursor: null, backwardsCursor: null };

type ListParams = CodexClientParams<"thread/list">;

/**
 * Reports whether a list is of a section, a project or attached threads, none of which Flint has, or of all
 * descendants.
 */
function filtersByMissing(params: ListParams): boolean {
  const { sectionId, projectId, ancestorThreadId, attachedToThreadId } = params;
  const filters = [sectionId, projectId, ancestorThreadId, attachedToThreadId];
  return filters.some((id) => id != null);
}

function listParams({
  cursor,
  limit,
  archived,
  searchTerm,
  cwd,
  parentThreadId,
  sortKey,
  sortDirection,
}: ListParams): Params<"thread/list"> {
  const folders = typeof cwd === "string" ? [cwd] : (cwd ?? []);
  const [folder] = folders;
  return {
    ...withoutNullish({ cursor, archived, searchTerm, parentThreadId, sortDirection }),
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
  if (modelProviders == null || modelProviders.length === 0) return true;
  // Older threads have the agent as their provider.
  return modelProviders.includes(thread.modelProvider) || modelProviders.includes(agentOfModel(thread.model));
}

/** The position at which a list continues: a page of the core, and the last entry of it that was sent. */
interface Position {
  readonly page?: string | undefined;
  readonly after?: string | undefined;
}

/** The cursor of the newest entry. */
export const NEWEST_FIRST = JSON.stringify({});

/**
 * Yields the result of `map` for each turn of a thread, oldest first. Whole turns are in memory one page at a
 * time.
 */
export async function iterateTurns<Mapped>(
  core: CoreCalls,
  threadId: string,
  map: (turn: Turn) => Mapped,
): Promise<Mapped[]> {
  const pages: Mapped[][] = [];
  for await (const turns of pagesOf(core, threadId)) pages.push(turns.map(map));
  return pages.reverse().flat();
}

/** All pages of a thread, the latest first; within a page the oldest turn comes first. */
async function* pagesOf(core: CoreCalls, threadId: string): AsyncGenerator<readonly Turn[]> {
  let cursor: string | undefined;
  do {
    const page = await readPage(core, threadId, cursor, READ_AT_ONCE);
    yield page.turns;
    cursor = page.next;
  } while (cursor !== undefined);
}

/** A page of turns. Newest first is read page by page; oldest first reads all pages. */
export async function turnsPage(
  params: CodexClientParams<"thread/turns/list">,
  core: CoreCalls,
): Promise<CodexClientResult<"thread/turns/list">> {
  const { threadId, itemsView } = params;
  const position = positionOf(params.cursor);
  const limit = pageSize(params.limit);
  const view = itemsView ?? "summary";
  if (params.sortDirection === "asc") {
    const { entries, next } = await pageAfter(turnsBackwards(core, threadId), position.after, limit);
    return { data: entries.map((turn) => listedTurn(turn, view)), nextCursor: next, backwardsCursor: null };
  }
  const page = await readPage(core, threadId, position.page, limit);
  const data = page.turns.toReversed().map((turn) => listedTurn(turn, view));
  const nextCursor = page.next === undefined ? null : cursorOf({ page: page.next });
  return { data, nextCursor, backwardsCursor: null };
}

/** An item with the turn it belongs to. */
type Entry = { readonly id: string; readonly turnId: string; readonly item: TimedItem };

/** A page of items, the oldest first unless requested otherwise. */
export async function itemsPage(
  params: CodexClientParams<"thread/items/list">,
  core: CoreCalls,
): Promise<CodexClientResult<"thread/items/list">> {
  const { threadId } = params;
  const position = positionOf(params.cursor);
  const limit = pageSize(params.limit);
  const isIncluded = (turn: Turn) => (params.turnId ?? turn.id) === turn.id;
  if (params.sortDirection !== "desc") {
    return itemsAnswer(await pageAfter(entriesBackwards(core, threadId, isIncluded), position.after, limit));
  }
  return itemsAnswer(await itemsBackwards({ core, threadId, isIncluded, limit }, position));
}

function itemsAnswer({ entries, next }: { entries: readonly Entry[]; next: string | null }) {
  const data = entries.map(({ turnId, item }) => ({
    turnId,
    item,
    startedAtMs: item.startedAtMs ?? null,
    completedAtMs: item.completedAtMs ?? null,
  }));
  return { data, nextCursor: next, backwardsCursor: null };
}

interface Backwards {
  readonly core: CoreCalls;
  readonly threadId: string;
  readonly limit: number;
  isIncluded(turn: Turn): boolean;
}

/** Reads pages from the newest until there are enough items. */
async function itemsBackwards({ core, threadId, isIncluded, limit }: Backwards, position: Position) {
  const entries: Entry[] = [];
  let { page: cursor, after } = position;
  for (;;) {
    const page = await readPage(core, threadId, cursor, DEFAULT_PAGE);
    // The list continues within this page; a page of which nothing was sent yet is sent whole.
    let last = after;
    for (const entry of page.turns.filter(isIncluded).flatMap(entriesOf).toReversed()) {
      if (after !== undefined) {
        if (entry.id === after) after = undefined;
        continue;
      }
      if (entries.length === limit) return { entries, next: cursorOf({ page: cursor, after: last }) };
      entries.push(entry);
      last = entry.id;
    }
    if (page.next === undefined) return { entries, next: null };
    cursor = page.next;
  }
}

function entriesOf(turn: Turn): Entry[] {
  return itemsOf(turn).map((item) => ({ id: item.id, turnId: turn.id, item }));
}

async function* turnsBackwards(core: CoreCalls, threadId: string): AsyncGenerator<Turn> {
  for await (const turns of pagesOf(core, threadId)) yield* turns.toReversed();
}

async function* entriesBackwards(
  core: CoreCalls,
  threadId: string,
  isIncluded: (turn: Turn) => boolean,
): AsyncGenerator<Entry> {
  for await (const turn of turnsBackwards(core, threadId)) {
    if (isIncluded(turn)) yield* entriesOf(turn).toReversed();
  }
}

/**
 * The entries after one of them, oldest first; from the beginning if that one is gone. They are read from the latest on,
 * so the last ones read are those; others are dropped.
 */
async function pageAfter<Listed extends { readonly id: string }>(
  backwards: AsyncIterable<Listed>,
  after: string | undefined,
  limit: number,
) {
  const read: Listed[] = [];
  for await (const entry of backwards) {
    if (entry.id === after) break;
    read.push(entry);
    if (read.length > limit + 1) read.shift();
  }
  const entries = read.reverse().slice(0, limit);
  const last = entries.at(-1);
  const next = read.length > limit && last !== undefined ? cursorOf({ after: last.id }) : null;
  return { entries, next };
}

async function readPage(core: CoreCalls, threadId: string, cursor: string | undefined, limit: number) {
  const from = cursor === undefined ? {} : { cursor };
  const page = await core.call("thread/read", { threadId, includeTurns: true, limit, ...from });
  return { turns: page.turns ?? [], next: page.nextCursor };
}

function pageSize(limit: number | null | undefined): number {
  return Math.min(Math.max(1, Math.floor(limit ?? DEFAULT_PAGE)), LIMITS.page);
}

function cursorOf(position: Position): string {
  return JSON.stringify(position);
}

function positionOf(cursor: unknown): Position {
  if (cursor === null || cursor === undefined) return {};
  // Expected: cursors that were made up.
  try {
    const { page, after }: Record<string, unknown> = Object(JSON.parse(String(cursor)));
    return { page: stringOf(page), after: stringOf(after) };
  } catch {
    throw codexError(`invalid cursor: ${String(cursor).slice(0, 100)}`);
  }
}

type Page = CodexClientResult<"thread/turns/list">;
type PageParams = NonNullable<CodexClientParams<"thread/resume">["initialTurnsPage"]>;

/** The page of turns that a client requests with `thread/resume`; null if it requests none. */
export async function firstPage(
  { threadId, initialTurnsPage: params }: CodexClientParams<"thread/resume">,
  core: CoreCalls,
): Promise<{ asOf(latest: readonly Turn[]): Page } | null> {
  if (params == null) return null;
  const page = await turnsPage({ threadId, ...params }, core);
  return { asOf: (latest) => pageFrom(page, params, latest) };
}

/** A page that was read before the client subscribed, with the latest turns as they are now. */
export function pageFrom(page: Page, params: PageParams, latest: readonly Turn[]): Page {
  const current = latest.map((turn) => listedTurn(turn, params.itemsView ?? "summary"));
  const data = page.data.map((turn) => current.find(({ id }) => id === turn.id) ?? turn);
  const isBackwards = params.sortDirection !== "asc";
  const newest = isBackwards ? data[0] : data.at(-1);
  // Turns that started since then; those before the newest one of the page are on other pages.
  const started = current.slice(current.findIndex(({ id }) => id === newest?.id) + 1);
  if (isBackwards) return { ...page, data: [...started.reverse(), ...data] };
  return page.nextCursor === null ? { ...page, data: [...data, ...started] } : { ...page, data };
}
