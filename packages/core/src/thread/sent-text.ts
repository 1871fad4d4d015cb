import { type DeltaBody, isDelta, type StoredEvent, type ThreadEvent } from "@flint/protocol";
import { StreamMap } from "./stream-map.ts";

const atStart = () => ({ end: 0 });

/**
 * What a follower has seen of streamed text that the log did not hold yet. When it then falls behind and reads the
 * log, the same text is there again, merged with what came after; this takes out the part that it knows.
 */
export class SentText {
  /** The end of the text that was told, by item. */
  readonly #ends = new StreamMap<{ end: number }>();

  /** Remembers a piece that was told before it was stored. */
  add({ type, data }: DeltaBody): void {
    this.#ends.getOrCreate(type, data.itemId, atStart).end = data.offset + data.delta.length;
  }

  /** The event without the text that was told already; undefined if nothing is left of it. */
  unsentPartOf(event: StoredEvent): ThreadEvent | undefined {
    if (!isDelta(event)) return event;
    const { type, data } = event;
    const end = this.#ends.get(type, data.itemId)?.end ?? 0;
    if (end <= data.offset) return event;
    const delta = data.delta.slice(end - data.offset);
    return delta === "" ? undefined : { ...event, data: { ...data, delta, offset: end } };
  }

  /** All of it is in the log now, before the place where the follower stands. */
  clear(): void {
    if (this.#ends.size > 0) this.#ends.clear();
  }
}
