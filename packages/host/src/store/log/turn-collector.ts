import type { Page } from "@flint/core/ports";
import { isRecord, type StoredEvent, type Turn } from "@flint/protocol";
import { decodeCursor, encodeCursor, invalidCursor } from "../listing/thread-list.ts";
import { contentTurnId, foldTurn } from "./fold.ts";

/** A record of a log that is read backwards. Its event is parsed only when needed. */
export interface BackwardRecord {
  /** Its offset in the log. */
  readonly position: number;
  readonly type: string;
  /** The turn that it is content of, if any. */
  readonly turnId: string | undefined;
  /** The item that it is about, if that is known without parsing. */
  readonly itemId: string | undefined;
  event(): StoredEvent | undefined;
}

/** A parsed event as a record. */
export function recordOf(event: StoredEvent, position: number): BackwardRecord {
  return { position, type: event.type, turnId: contentTurnId(event), itemId: undefined, event: () => event };
}

interface Group {
  readonly turnId: string;
  readonly gone: boolean;
  /** Newest first. */
  readonly events: StoredEvent[];
  /** The completed items, whose earlier events need not be parsed. */
  readonly ends: Map<string, ItemEnd>;
  /** True if the end of the turn contains all its items, so that the rest of it need not be parsed. */
  whole: boolean;
  position: number;
}

type ItemEnd = Extract<StoredEvent, { type: "item/completed" }>;

/** The end of the next older page of turns, and the older turns that later records reverted. */
export interface TurnCursor {
  readonly end: number;
  readonly gone: readonly string[];
}

/** Decodes the cursor of a page of turns in a log of this size. */
export function decodeTurnCursor(cursor: string, size: number): TurnCursor {
  const value = decodeCursor(cursor);
  if (!isRecord(value)) throw invalidCursor();
  const { end, gone } = value;
  if (typeof end !== "number" || !Number.isSafeInteger(end) || end < 1 || end > size) throw invalidCursor();
  if (!Array.isArray(gone) || !gone.every((id) => typeof id === "string")) throw invalidCursor();
  return { end, gone };
}

/** Collects whole turns from records, newest first, without those that were reverted later. */
export class TurnCollector {
  readonly #limit: number;
  readonly #gone: Set<string>;
  readonly #seen = new Set<string>();
  /** Reverts that newer records undid. There is no turn between the two, so no page ends between them. */
  readonly #undone = new Set<string>();
  /** Newest first. */
  readonly #turns: Turn[] = [];
  /** The offset of the oldest turn that was collected or skipped. */
  #position = 0;
  #hasNewer: boolean;
  #group: Group | undefined;
  /** A record of another turn in the middle of one: damaged, unless the previous record belongs to the same turn. */
  #stray: BackwardRecord | undefined;
  #hasMore = false;

  /** `gone` are turns reverted by records that are not read; `hasNewer`: newer turns exist. */
  constructor(limit: number, gone: Iterable<string>, hasNewer: boolean) {
    this.#limit = limit;
    this.#gone = new Set(gone);
    this.#hasNewer = hasNewer;
  }

  get count(): number {
    return this.#turns.length;
  }

  /** The collected turns, oldest first. */
  page(): Page<Turn> {
    const next: TurnCursor = { end: this.#position, gone: [...this.#gone] };
    return { data: this.#turns.toReversed(), nextCursor: this.#hasMore ? encodeCursor(next) : undefined };
  }

  /** Adds the next older record. False when the page is full and it is certain whether there are more. */
  add(record: BackwardRecord): boolean {
    if (record.type === "thread/reverted") this.#addReverted(record.event());
    if (record.type === "thread/revert/undone") this.#addUndone(record.event());
    if (record.turnId === undefined) return true;
    if (this.#isStray(record)) {
      this.#stray = record;
      return true;
    }
    const stray = this.#stray?.turnId === record.turnId ? this.#stray : undefined;
    this.#stray = undefined;
    return (stray === undefined || this.#collect(stray)) && this.#collect(record);
  }

  /** To be called after the oldest record. */
  end(): void {
    if (this.#stray !== undefined) this.#collect(this.#stray);
    this.#close();
  }

  #isStray({ type, turnId }: BackwardRecord): boolean {
    const isBoundary = type === "turn/started" || type === "turn/completed";
    if (this.#group === undefined || this.#group.turnId === turnId) return false;
    return !isBoundary && this.#stray?.turnId !== turnId;
  }

  #collect(record: BackwardRecord): boolean {
    const { turnId = "", position } = record;
    if (this.#group?.turnId !== turnId) this.#open(turnId, position);
    if (this.#hasMore) return false;
    if (this.#group !== undefined) addTo(this.#group, record);
    if (record.type === "turn/started") this.#close();
    return true;
  }

  #addReverted(event: StoredEvent | undefined): void {
    if (event?.type !== "thread/reverted") return;
    if (event.data.revertId !== undefined && this.#undone.delete(event.data.revertId)) return;
    for (const turnId of event.data.turnIds) this.#gone.add(turnId);
  }

  #addUndone(event: StoredEvent | undefined): void {
    if (event?.type === "thread/revert/undone") this.#undone.add(event.data.revertId);
  }

  #open(turnId: string, position: number): void {
    this.#close();
    const gone = this.#gone.has(turnId) || this.#seen.has(turnId);
    if (!gone && this.#turns.length === this.#limit) this.#hasMore = true;
    this.#group = { turnId, gone, events: [], ends: new Map(), whole: false, position };
  }

  #close(): void {
    const group = this.#group;
    if (group === undefined || this.#hasMore) return;
    this.#group = undefined;
    this.#seen.add(group.turnId);
    this.#gone.delete(group.turnId);
    this.#position = group.position;
    if (!group.gone) this.#turns.push(this.#ended(foldTurn(group.turnId, group.events.toReversed())));
    this.#hasNewer = true;
  }

  /** A turn with a newer turn has ended, even if the record of its end is lost. */
  #ended(turn: Turn): Turn {
    return this.#hasNewer && turn.status === "inProgress" ? { ...turn, status: "interrupted" } : turn;
  }
}

function addTo(group: Group, record: BackwardRecord): void {
  group.position = record.position;
  if (group.gone || group.whole) return;
  const end = record.itemId === undefined ? undefined : group.ends.get(record.itemId);
  // Of a completed item only its position among the others is needed, which is that of its first event.
  const event = end === undefined ? record.event() : startOf(end, record.type);
  if (event === undefined) return;
  if (event.type === "item/completed") group.ends.set(event.data.item.id, event);
  if (event.type === "turn/completed") group.whole = event.data.turn.itemsView !== "notLoaded";
  group.events.push(event);
}

function startOf(end: ItemEnd, type: string): StoredEvent | undefined {
  const isWholeItem = type === "item/started" || type === "item/completed";
  return isWholeItem ? { ...end, type: "item/started" } : undefined;
}
