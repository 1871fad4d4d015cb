import { type DeltaType, ITEMS, type Item, isKnownItem, LIMITS, type ThreadItem } from "@flint/protocol";
import { cutMiddle, headOf } from "../text/bounded.ts";
import { StreamMap } from "../thread/stream-map.ts";

/** The accepted part of a text. */
interface Accepted {
  bytes: number;
}

const nothingAccepted = (): Accepted => ({ bytes: 0 });

/**
 * Bounds the text of one turn, item by item and altogether: text beyond a limit is counted, not stored. Once the turn has
 * used up its own limit, each further item still gets a little, so that the end of the turn can be understood.
 */
export class TurnCaps {
  readonly #accepted = new StreamMap<Accepted>();
  readonly #omitted = new Map<string, number>();
  readonly #streamed = new Set<string>();
  /** The limits of items whose streamed text was cut. */
  readonly #limits = new Map<string, number>();
  #total = 0;

  /** The part of a piece that still fits. */
  admit(type: DeltaType, itemId: string, piece: string): string {
    const limit = type === "item/commandExecution/outputDelta" ? LIMITS.output : LIMITS.text;
    const accepted = this.#accepted.getOrCreate(type, itemId, nothingAccepted);
    if (accepted.bytes === 0) this.#streamed.add(itemId);
    const size = Buffer.byteLength(piece);
    const room = Math.min(limit - accepted.bytes, this.#roomInTurn(accepted.bytes));
    if (size <= room) {
      accepted.bytes += size;
      this.#total += size;
      return piece;
    }
    const admitted = headOf(piece, room);
    const admittedSize = Buffer.byteLength(admitted);
    if (!this.#limits.has(itemId)) {
      this.#limits.set(itemId, Math.max(accepted.bytes + admittedSize, LIMITS.lateText));
    }
    this.#total += admittedSize;
    // Nothing is accepted after the first omitted byte, because a gap must not look like text.
    accepted.bytes = limit;
    this.#omitted.set(itemId, (this.#omitted.get(itemId) ?? 0) + size - admittedSize);
    return admitted;
  }

  /** A completed item with its text within the limits, and the number of omitted bytes. */
  finish(item: ThreadItem): ThreadItem {
    if (!isKnownItem(item)) return item;
    if (item.type === "commandExecution") return this.#finishCommand(item);
    return ITEMS[item.type].longFields.reduce<ThreadItem>(
      (bounded, field) => this.#bounded(bounded, field),
      item,
    );
  }

  #finishCommand(item: Item<"commandExecution">): ThreadItem {
    const whole = item.aggregatedOutput ?? "";
    const { text, omitted } = cutMiddle(whole, this.#limitOf(item.id, whole, LIMITS.output));
    const missing = Math.max(omitted + (item.omittedOutputBytes ?? 0), this.#omitted.get(item.id) ?? 0);
    if (missing === 0) return item;
    const output = item.aggregatedOutput === undefined ? {} : { aggregatedOutput: text };
    return { ...item, ...output, omittedOutputBytes: missing };
  }

  #bounded(item: ThreadItem, field: string): ThreadItem {
    const whole: unknown = Reflect.get(item, field);
    if (typeof whole !== "string") return item;
    const { text, omitted } = cutMiddle(whole, this.#limitOf(item.id, whole, LIMITS.text));
    return omitted === 0 ? item : { ...item, [field]: text };
  }

  /** Returns the kept length of a complete text. One that was not streamed counts from here on. */
  #limitOf(itemId: string, whole: string, limit: number): number {
    const known = this.#limits.get(itemId);
    if (known !== undefined) return Math.min(limit, known);
    if (this.#streamed.has(itemId)) return limit;
    const kept = Math.min(limit, this.#roomInTurn(0));
    this.#total += Math.min(kept, Buffer.byteLength(whole));
    return kept;
  }

  #roomInTurn(acceptedOfItem: number): number {
    return Math.max(LIMITS.turnText - this.#total, LIMITS.lateText - acceptedOfItem, 0);
  }
}
