import type { Turn } from "@flint/protocol";
import type { CodexClientParams, CodexClientResult } from "@flint/protocol/codex";
import type { CoreCalls } from "../shared/core-calls.ts";
import type { ToldItem } from "./items.ts";
import { refused } from "./refusals.ts";
import { itemsOf, listedTurn } from "./turns.ts";

/** The longest page that the core gives. */
const LONGEST = 200;
const USUAL = 25;
/** How many turns are held at a time where all are looked at. */
const READ_AT_ONCE = 50;

/** Where a list goes on: a page of the core, and the last entry that was told of it. */
interface Place {
  readonly page?: string | undefined;
  readonly after?: string | undefined;
}

/** What pages are read with. */
type Reader = { readonly client: { readonly core: CoreCalls } };

/** A cursor that begins with the newest. */
export const NEWEST = JSON.stringify({});

/** Each turn of a thread, oldest first, as what `keep` makes of it. Whole turns are held one page at a time. */
export async function eachTurn<Kept>(
  visit: Reader,
  threadId: string,
  keep: (turn: Turn) => Kept,
): Promise<Kept[]> {
  const pages: Kept[][] = [];
  for await (const turns of pagesOf(visit, threadId)) pages.push(turns.map(keep));
  return pages.reverse().flat();
}

/** All pages of a thread, the one with the latest turns first; within a page the oldest turn comes first. */
async function* pagesOf(visit: Reader, threadId: string): AsyncGenerator<readonly Turn[]> {
  let cursor: string | undefined;
  do {
    const page = await readPage(visit, threadId, cursor, READ_AT_ONCE);
    yield page.turns;
    cursor = page.next;
  } while (cursor !== undefined);
}

/** A page of turns. The latest come first, and are read page by page; from the oldest on, all pages are looked at. */
export async function turnsPage(
  params: CodexClientParams<"thread/turns/list">,
  visit: Reader,
): Promise<CodexClientResult<"thread/turns/list">> {
  const { threadId, itemsView } = params;
  const place = placeIn(params.cursor);
  const limit = pageSize(params.limit);
  const view = itemsView ?? "summary";
  if (params.sortDirection === "asc") {
    const { entries, next } = await pageAfter(turnsBackwards(visit, threadId), place.after, limit);
    return { data: entries.map((turn) => listedTurn(turn, view)), nextCursor: next, backwardsCursor: null };
  }
  const page = await readPage(visit, threadId, place.page, limit);
  const data = page.turns.toReversed().map((turn) => listedTurn(turn, view));
  const nextCursor = page.next === undefined ? null : cursorOf({ page: page.next });
  return { data, nextCursor, backwardsCursor: null };
}

/** An item with the turn it belongs to. */
type Entry = { readonly id: string; readonly turnId: string; readonly item: ToldItem };

/** A page of items, the oldest first unless told otherwise. */
export async function itemsPage(
  params: CodexClientParams<"thread/items/list">,
  visit: Reader,
): Promise<CodexClientResult<"thread/items/list">> {
  const { threadId } = params;
  const place = placeIn(params.cursor);
  const limit = pageSize(params.limit);
  const wanted = (turn: Turn) => (params.turnId ?? turn.id) === turn.id;
  if (params.sortDirection !== "desc") {
    return told(await pageAfter(entriesBackwards(visit, threadId, wanted), place.after, limit));
  }
  return told(await itemsBackwards({ visit, threadId, wanted, limit }, place));
}

function told({ entries, next }: { entries: readonly Entry[]; next: string | null }) {
  const data = entries.map(({ turnId, item }) => ({
    turnId,
    item,
    startedAtMs: item.startedAtMs ?? null,
    completedAtMs: item.completedAtMs ?? null,
  }));
  return { data, nextCursor: next, backwardsCursor: null };
}

interface Backwards {
  readonly visit: Reader;
  readonly threadId: string;
  readonly limit: number;
  wanted(turn: Turn): boolean;
}

/** Reads pages from the newest on until there are enough items. */
async function itemsBackwards({ visit, threadId, wanted, limit }: Backwards, place: Place) {
  const entries: Entry[] = [];
  let { page: cursor, after } = place;
  for (;;) {
    const page = await readPage(visit, threadId, cursor, USUAL);
    // Where the list goes on is told within this page; a page of which nothing was told yet is told whole.
    let last = after;
    for (const entry of page.turns.filter(wanted).flatMap(entriesOf).toReversed()) {
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

async function* turnsBackwards(visit: Reader, threadId: string): AsyncGenerator<Turn> {
  for await (const turns of pagesOf(visit, threadId)) yield* turns.toReversed();
}

async function* entriesBackwards(
  visit: Reader,
  threadId: string,
  wanted: (turn: Turn) => boolean,
): AsyncGenerator<Entry> {
  for await (const turn of turnsBackwards(visit, threadId)) {
    if (wanted(turn)) yield* entriesOf(turn).toReversed();
  }
}

/**
 * The entries after one of them, oldest first; from the beginning on if that one is gone. They are met from the latest
 * on, so the last ones met are those; others are not held.
 */
async function pageAfter<Listed extends { readonly id: string }>(
  backwards: AsyncIterable<Listed>,
  after: string | undefined,
  limit: number,
) {
  const met: Listed[] = [];
  for await (const entry of backwards) {
    if (entry.id === after) break;
    met.push(entry);
    if (met.length > limit + 1) met.shift();
  }
  const entries = met.reverse().slice(0, limit);
  const last = entries.at(-1);
  const next = met.length > limit && last !== undefined ? cursorOf({ after: last.id }) : null;
  return { entries, next };
}

async function readPage(visit: Reader, threadId: string, cursor: string | undefined, limit: number) {
  const place = cursor === undefined ? {} : { cursor };
  const page = await visit.client.core.call("thread/read", { threadId, includeTurns: true, limit, ...place });
  return { turns: page.turns ?? [], next: page.nextCursor };
}

function pageSize(limit: number | null | undefined): number {
  return Math.min(Math.max(1, Math.floor(limit ?? USUAL)), LONGEST);
}

function cursorOf(place: Place): string {
  return JSON.stringify(place);
}

function placeIn(cursor: unknown): Place {
  if (cursor === null || cursor === undefined) return {};
  // Expected: cursors that were made up.
  try {
    const { page, after }: Record<string, unknown> = Object(JSON.parse(String(cursor)));
    return { page: textIn(page), after: textIn(after) };
  } catch {
    throw refused(`invalid cursor: ${String(cursor).slice(0, 100)}`);
  }
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
