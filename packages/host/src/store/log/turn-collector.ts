import type { Page } from "@flint/core/ports";
import { isRecord, type StoredEvent, type Turn } from "@flint/protocol";
import { decodeCursor, encodeCursor, invalidCursor } from "../listing/thread-list.ts";
import { contentTurnId, foldTurn } from "./fold.ts";

/** A record met while walking a log backwards. What it carries is read only when it is needed. */
export interface BackwardRecord {
  /** Where it is in the log. */
  readonly position: number;
  readonly type: string;
  /** The turn whose content it is, if it is content of a turn. */
  readonly turnId: string | undefined;
  /** The item that it is about, or a piece of, if that is known already. */
  readonly itemId: string | undefined;
  event(): StoredEvent | undefined;
}

/** An event that is read already, as a record. */
export function recordOf(event: StoredEvent, position: number): BackwardRecord {
  return { position, type: event.type, turnId: contentTurnId(event), itemId: undefined, event: () => event };
}

interface Group {
  readonly turnId: string;
  readonly gone: boolean;
  /** Newest first. */
  readonly events: StoredEvent[];
  /** The ends of items: what was before in them need not be read. */
  readonly ends: Map<string, ItemEnd>;
  /** Whether the end of the turn carried all its items: then nothing else of it need be read. */
  whole: boolean;
  position: number;
}

type ItemEnd = Extract<StoredEvent, { type: "item/completed" }>;

/** Where the next older page of turns ends, and which older turns were reverted by records after it. */
export interface TurnPlace {
  readonly end: number;
  readonly gone: readonly string[];
}

/** Reads the cursor of a page of turns in a log of this size. */
export function decodeTurnPlace(cursor: string, size: number): TurnPlace {
  const value = decodeCursor(cursor);
  if (!isRecord(value)) throw invalidCursor();
  const { end, gone } = value;
  if (typeof end !== "number" || !Number.isSafeInteger(end) || end < 1 || end > size) throw invalidCursor();
  if (!Array.isArray(gone) || !gone.every((id) => typeof id === "string")) throw invalidCursor();
  return { end, gone };
}

/** Gathers whole turns out of records that come newest first, leaving out those that were reverted later. */
export class TurnCollector {
  readonly #limit: number;
  readonly #gone: Set<string>;
  readonly #seen = new Set<string>();
  /** Reverts that were taken back by newer records. No turn lies between the two, so no page ends between them. */
  readonly #undone = new Set<string>();
  /** Newest first. */
  readonly #turns: Turn[] = [];
  /** Where the oldest turn that was gathered or left out starts. */
  #position = 0;
  #followed: boolean;
  #group: Group | undefined;
  /** A record of another turn in the middle of one: damaged, unless the record before agrees with it. */
  #stray: BackwardRecord | undefined;
  #hasMore = false;

  /** `gone` are turns reverted by records that are not walked; `followed`: newer turns exist. */
  constructor(limit: number, gone: Iterable<string>, followed: boolean) {
    this.#limit = limit;
    this.#gone = new Set(gone);
    this.#followed = followed;
  }

  get count(): number {
    return this.#turns.length;
  }

  /** What was gathered, oldest first. */
  page(): Page<Turn> {
    const next: TurnPlace = { end: this.#position, gone: [...this.#gone] };
    return { data: this.#turns.toReversed(), nextCursor: this.#hasMore ? encodeCursor(next) : undefined };
  }

  /** Takes the next older record. False when the page is full and it is certain whether there is more. */
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
    return (stray === undefined || this.#gather(stray)) && this.#gather(record);
  }

  /** There are no older records. */
  end(): void {
    if (this.#stray !== undefined) this.#gather(this.#stray);
    this.#close();
  }

  #isStray({ type, turnId }: BackwardRecord): boolean {
    const isBoundary = type === "turn/started" || type === "turn/completed";
    if (this.#group === undefined || this.#group.turnId === turnId) return false;
    return !isBoundary && this.#stray?.turnId !== turnId;
  }

  #gather(record: BackwardRecord): boolean {
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
    this.#followed = true;
  }

  /** A turn that another one follows is over, even if the record of its end is lost. */
  #ended(turn: Turn): Turn {
    return this.#followed && turn.status === "inProgress" ? { ...turn, status: "interrupted" } : turn;
  }
}

function addTo(group: Group, record: BackwardRecord): void {
  group.position = record.position;
  if (group.gone || group.whole) return;
  const end = record.itemId === undefined ? undefined : group.ends.get(record.itemId);
  // Of an item that ended later only its place among the others counts, which is where it first came.
  const event = end === undefined ? record.event() : placeOf(end, record.type);
  if (event === undefined) return;
  if (event.type === "item/completed") group.ends.set(event.data.item.id, event);
  if (event.type === "turn/completed") group.whole = event.data.turn.itemsView !== "notLoaded";
  group.events.push(event);
}

function placeOf(end: ItemEnd, type: string): StoredEvent | undefined {
  const isWholeItem = type === "item/started" || type === "item/completed";
  return isWholeItem ? { ...end, type: "item/started" } : undefined;
}
