import type { Turn } from "@flint/protocol";
import type { CodexDoorParams, CodexDoorResult } from "@flint/protocol/codex";
import type { ToldItem } from "./items.ts";
import { refused } from "./refusals.ts";
import { itemsOf, listedTurn } from "./turns.ts";
import type { Visit } from "./visit.ts";

/** The longest page that the core gives. */
const LONGEST = 200;
const USUAL = 25;

/** Where a list goes on: a page of the core, and the last entry that was told of it. */
interface Place {
  readonly page?: string | undefined;
  readonly after?: string | undefined;
}

/** A cursor that begins with the newest. */
export const NEWEST = JSON.stringify({});

/** All turns of a thread, oldest first. */
export async function allTurns(visit: Visit, threadId: string): Promise<Turn[]> {
  const turns: Turn[] = [];
  let cursor: string | undefined;
  do {
    const place = cursor === undefined ? {} : { cursor };
    const page = await visit.core("thread/read", { threadId, includeTurns: true, limit: LONGEST, ...place });
    turns.unshift(...(page.turns ?? []));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return turns;
}

/** A page of turns. The latest come first, and are read page by page; from the oldest on, all are read. */
export async function turnsPage(
  params: CodexDoorParams<"thread/turns/list">,
  visit: Visit,
): Promise<CodexDoorResult<"thread/turns/list">> {
  const { threadId, itemsView } = params;
  const place = placeIn(params.cursor);
  const limit = pageSize(params.limit);
  const view = itemsView ?? "summary";
  if (params.sortDirection === "asc") {
    const { entries, next } = pageAfter(await allTurns(visit, threadId), place.after, limit);
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
  params: CodexDoorParams<"thread/items/list">,
  visit: Visit,
): Promise<CodexDoorResult<"thread/items/list">> {
  const { threadId } = params;
  const place = placeIn(params.cursor);
  const limit = pageSize(params.limit);
  const wanted = (turn: Turn) => (params.turnId ?? turn.id) === turn.id;
  if (params.sortDirection !== "desc") {
    const turns = (await allTurns(visit, threadId)).filter(wanted);
    return told(pageAfter(turns.flatMap(entriesOf), place.after, limit));
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
  readonly visit: Visit;
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
    for (const entry of page.turns.filter(wanted).flatMap(entriesOf).toReversed()) {
      if (after !== undefined) {
        if (entry.id === after) after = undefined;
        continue;
      }
      const last = entries.at(-1);
      if (entries.length === limit) return { entries, next: cursorOf({ page: cursor, after: last?.id }) };
      entries.push(entry);
    }
    if (page.next === undefined) return { entries, next: null };
    cursor = page.next;
  }
}

function entriesOf(turn: Turn): Entry[] {
  return itemsOf(turn).map((item) => ({ id: item.id, turnId: turn.id, item }));
}

/** The entries after one of them. If that one is gone, those from the beginning on. */
function pageAfter<Listed extends { readonly id: string }>(
  all: readonly Listed[],
  after: string | undefined,
  limit: number,
) {
  const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
  const entries = all.slice(start, start + limit);
  const last = entries.at(-1);
  const next = start + limit < all.length && last !== undefined ? cursorOf({ after: last.id }) : null;
  return { entries, next };
}

async function readPage(visit: Visit, threadId: string, cursor: string | undefined, limit: number) {
  const place = cursor === undefined ? {} : { cursor };
  const page = await visit.core("thread/read", { threadId, includeTurns: true, limit, ...place });
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
