import type { Page, ThreadQuery } from "@flint/core/ports";
import { FlintError, type Thread, type ThreadState } from "@flint/protocol";
import type { ThreadTimes } from "../log/fold.ts";

/** What a list knows of a thread. */
export interface ListedThread extends ThreadTimes {
  readonly thread: Thread;
}

/** How a thread is listed. The milliseconds are used where they agree with the seconds that the thread shows. */
export function listedThread(state: ThreadState, times: ThreadTimes): ListedThread {
  const thread: Thread = { ...state.thread, status: { type: "notLoaded" } };
  return {
    thread,
    createdAtMs: refined(thread.createdAt, times.createdAtMs),
    updatedAtMs: refined(thread.updatedAt, times.updatedAtMs),
  };
}

function refined(seconds: number, milliseconds: number): number {
  return Math.floor(milliseconds / 1000) === seconds ? milliseconds : seconds * 1000;
}

type SortKey = ThreadQuery["sortKey"];

interface Row {
  readonly id: string;
  entry: ListedThread;
  /** What a search looks at; made when somebody searches. */
  text: string | undefined;
}

/** Threads in memory, in both orders, ready to be paged through. */
export class ThreadList {
  readonly #rows = new Map<string, Row>();
  readonly #orders = { createdAt: new Order("createdAt"), updatedAt: new Order("updatedAt") };

  get size(): number {
    return this.#rows.size;
  }

  ids(): string[] {
    return [...this.#rows.keys()];
  }

  entries(): ListedThread[] {
    return [...this.#rows.values()].map((row) => row.entry);
  }

  has(threadId: string): boolean {
    return this.#rows.has(threadId);
  }

  /** Adds a thread, or changes what is known of it. */
  set(entry: ListedThread): void {
    const { id } = entry.thread;
    const known = this.#rows.get(id);
    const row = known ?? { id, entry, text: undefined };
    row.entry = entry;
    row.text = undefined;
    this.#rows.set(id, row);
    for (const order of Object.values(this.#orders)) {
      if (known === undefined) order.add(row);
      order.invalidate();
    }
  }

  delete(threadId: string): void {
    if (!this.#rows.delete(threadId)) return;
    for (const order of Object.values(this.#orders)) order.remove(threadId);
  }

  clear(): void {
    this.#rows.clear();
    for (const order of Object.values(this.#orders)) order.clear();
  }

  /** One page; pages that follow each other's cursors hold every thread once. */
  page(query: ThreadQuery): Page<Thread> {
    const { sortKey, limit } = query;
    const rows = this.#orders[sortKey].sorted();
    const matches = filterOf(query);
    const step = query.sortDirection === "asc" ? 1 : -1;
    const found: Row[] = [];
    for (let at = firstIndex(rows, query); at >= 0 && at < rows.length; at += step) {
      const row = rows[at];
      if (row === undefined || !matches(row)) continue;
      if (found.length === limit) return { data: threadsOf(found), nextCursor: cursorAfter(found, sortKey) };
      found.push(row);
    }
    return { data: threadsOf(found), nextCursor: undefined };
  }
}

/** The rows by one time, oldest first; sorted again only when somebody looks after a change. */
class Order {
  readonly #key: SortKey;
  #rows: Row[] = [];
  #stale = false;

  constructor(key: SortKey) {
    this.#key = key;
  }

  add(row: Row): void {
    this.#rows.push(row);
  }

  invalidate(): void {
    this.#stale = true;
  }

  remove(threadId: string): void {
    this.#rows = this.#rows.filter((row) => row.id !== threadId);
  }

  clear(): void {
    this.#rows = [];
  }

  sorted(): readonly Row[] {
    if (this.#stale)
      this.#rows.sort((left, right) => compare(placeOf(left, this.#key), placeOf(right, this.#key)));
    this.#stale = false;
    return this.#rows;
  }
}

/** A place in an order: a time, and the id of the thread because times may be equal. */
type Place = readonly [milliseconds: number, id: string];

function placeOf({ entry, id }: Row, key: SortKey): Place {
  return [key === "createdAt" ? entry.createdAtMs : entry.updatedAtMs, id];
}

function compare(left: Place, right: Place): number {
  if (left[0] !== right[0]) return left[0] - right[0];
  if (left[1] === right[1]) return 0;
  return left[1] < right[1] ? -1 : 1;
}

function cursorAfter(found: readonly Row[], key: SortKey): string | undefined {
  const last = found.at(-1);
  return last === undefined ? undefined : encodeCursor([key, ...placeOf(last, key)]);
}

function decodePlace(cursor: string, key: SortKey): Place {
  const value = decodeCursor(cursor);
  if (!Array.isArray(value) || value[0] !== key) throw invalidCursor();
  const [, milliseconds, id]: unknown[] = value;
  if (typeof milliseconds !== "number" || typeof id !== "string") throw invalidCursor();
  return [milliseconds, id];
}

/** Where the rows begin that a query wants. */
function firstIndex(rows: readonly Row[], { cursor, sortKey, sortDirection }: ThreadQuery): number {
  const isAscending = sortDirection === "asc";
  if (cursor === undefined) return isAscending ? 0 : rows.length - 1;
  const place = decodePlace(cursor, sortKey);
  const isBefore = (row: Row): boolean => compare(placeOf(row, sortKey), place) < (isAscending ? 1 : 0);
  const count = countWhile(rows, isBefore);
  return isAscending ? count : count - 1;
}

/** How many rows at the start satisfy a test that none of the others satisfies. */
function countWhile(rows: readonly Row[], test: (row: Row) => boolean): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const row = rows[middle];
    if (row !== undefined && test(row)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function filterOf({ archived, cwd, searchTerm }: ThreadQuery): (row: Row) => boolean {
  const term = searchTerm?.toLowerCase();
  return (row) => {
    const { thread } = row.entry;
    if (thread.archived !== archived || (cwd !== undefined && thread.cwd !== cwd)) return false;
    return term === undefined || searchText(row).includes(term);
  };
}

function searchText(row: Row): string {
  row.text ??= `${row.entry.thread.name ?? ""}\n${row.entry.thread.preview}`.toLowerCase();
  return row.text;
}

function threadsOf(rows: readonly Row[]): Thread[] {
  return rows.map((row) => row.entry.thread);
}

/** Makes an opaque place in a list out of any JSON value. */
export function encodeCursor(value: unknown): string {
  return Buffer.from(JSON.stringify(value), "utf8").toString("base64url");
}

/** The value of a cursor, or undefined if it is not one. */
export function decodeCursor(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    // Not one of ours.
    return undefined;
  }
}

/** A cursor that no page of this list gave out. */
export function invalidCursor(): FlintError {
  const message = "The cursor is not valid for this list; leave it out to start at the first page.";
  return new FlintError("invalidParams", message, { field: "cursor" });
}
