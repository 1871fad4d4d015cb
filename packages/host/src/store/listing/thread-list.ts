import type { Page, ThreadQuery } from "@flint/core/ports";
import { FlintError, type Thread, type ThreadState } from "@flint/protocol";
import type { ThreadTimes } from "../log/fold.ts";

/** A thread as it is listed. */
export interface ListedThread extends ThreadTimes {
  readonly thread: Thread;
}

/** The list entry of a thread. Milliseconds are used where they agree with the thread's seconds. */
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
  /** The text that a search matches; computed by the first search. */
  searchable: string | undefined;
}

/** Threads in memory, in both orders, for paging. */
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

  /** Adds or updates a thread. */
  set(entry: ListedThread): void {
    const { id } = entry.thread;
    const known = this.#rows.get(id);
    const row = known ?? { id, entry, searchable: undefined };
    row.entry = entry;
    row.searchable = undefined;
    this.#rows.set(id, row);
    const { createdAt, updatedAt } = this.#orders;
    createdAt.put(row, known === undefined);
    updatedAt.put(row, known === undefined);
  }

  delete(threadId: string): void {
    if (!this.#rows.delete(threadId)) return;
    for (const order of Object.values(this.#orders)) order.remove(threadId);
  }

  clear(): void {
    this.#rows.clear();
    for (const order of Object.values(this.#orders)) order.clear();
  }

  /** One page. Following the cursors returns every thread once. */
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

/** The rows ordered by one time, oldest first; sorted only when they are read after a change. */
class Order {
  readonly #key: SortKey;
  #rows: Row[] = [];
  #stale = false;

  constructor(key: SortKey) {
    this.#key = key;
  }

  /** Takes a new row, or one whose time may have changed. */
  put(row: Row, isNew: boolean): void {
    if (isNew) this.#rows.push(row);
    this.#stale = true;
  }

  remove(threadId: string): void {
    this.#rows = this.#rows.filter((row) => row.id !== threadId);
  }

  clear(): void {
    this.#rows = [];
  }

  sorted(): readonly Row[] {
    const key = this.#key;
    if (this.#stale)
      this.#rows.sort((left, right) => compare(timeOf(left, key), left.id, timeOf(right, key), right.id));
    this.#stale = false;
    return this.#rows;
  }
}

/** A position in an order: a time, and the id of the thread because times may be equal. */
type Position = readonly [milliseconds: number, id: string];

function positionOf(row: Row, key: SortKey): Position {
  return [timeOf(row, key), row.id];
}

function timeOf({ entry }: Row, key: SortKey): number {
  return key === "createdAt" ? entry.createdAtMs : entry.updatedAtMs;
}

/** Compares two positions; takes their parts because sorting would otherwise make thousands of pairs. */
function compare(time: number, id: string, otherTime: number, otherId: string): number {
  if (time !== otherTime) return time - otherTime;
  if (id === otherId) return 0;
  return id < otherId ? -1 : 1;
}

function cursorAfter(found: readonly Row[], key: SortKey): string | undefined {
  const last = found.at(-1);
  return last === undefined ? undefined : encodeCursor([key, ...positionOf(last, key)]);
}

function decodePosition(cursor: string, key: SortKey): Position {
  const value = decodeCursor(cursor);
  if (!Array.isArray(value) || value[0] !== key) throw invalidCursor();
  const [, milliseconds, id]: unknown[] = value;
  if (typeof milliseconds !== "number" || typeof id !== "string") throw invalidCursor();
  return [milliseconds, id];
}

/** The index of the first row of a page. */
function firstIndex(rows: readonly Row[], { cursor, sortKey, sortDirection }: ThreadQuery): number {
  const isAscending = sortDirection === "asc";
  if (cursor === undefined) return isAscending ? 0 : rows.length - 1;
  const [time, id] = decodePosition(cursor, sortKey);
  const isBefore = (row: Row): boolean =>
    compare(timeOf(row, sortKey), row.id, time, id) < (isAscending ? 1 : 0);
  const count = countWhile(rows, isBefore);
  return isAscending ? count : count - 1;
}

/** The number of leading rows that satisfy a test which no later row satisfies. */
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

function filterOf({ archived, cwd, searchTerm, clientId, ofTasks }: ThreadQuery): (row: Row) => boolean {
  const term = searchTerm?.toLowerCase();
  return (row) => {
    const { thread } = row.entry;
    if (thread.archived !== archived || (cwd !== undefined && thread.cwd !== cwd)) return false;
    if (ofTasks !== undefined && (thread.taskId !== undefined) !== ofTasks) return false;
    if (clientId !== undefined && thread.startedAs?.clientId !== clientId) return false;
    return term === undefined || searchText(row).includes(term);
  };
}

function searchText(row: Row): string {
  row.searchable ??= `${row.entry.thread.name ?? ""}\n${row.entry.thread.preview}`.toLowerCase();
  return row.searchable;
}

function threadsOf(rows: readonly Row[]): Thread[] {
  return rows.map((row) => row.entry.thread);
}

/** Encodes a JSON value as an opaque cursor. */
export function encodeCursor(value: unknown): string {
  return Buffer.from(JSON.stringify(value), "utf8").toString("base64url");
}

/** Decodes a cursor; undefined if it is invalid. */
export function decodeCursor(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    // Not a cursor of this store.
    return undefined;
  }
}

/** The error for a cursor that no page of this list returned. */
export function invalidCursor(): FlintError {
  const message = "The cursor is not valid for this list; leave it out to start at the first page.";
  return new FlintError("invalidParams", message, { field: "cursor" });
}
