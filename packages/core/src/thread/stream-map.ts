import type { DeltaType } from "@flint/protocol";

/**
 * Something for each text that is streamed: there is one for every item and kind of piece. Pieces of one text follow
 * each other, so the latest one is found without looking for it.
 */
export class StreamMap<Value> {
  readonly #values = new Map<string, Value>();
  #type: DeltaType | undefined;
  #itemId: string | undefined;
  #latest: Value | undefined;

  get size(): number {
    return this.#values.size;
  }

  /** What belongs to a text, if there is something. */
  get(type: DeltaType, itemId: string): Value | undefined {
    if (this.#itemId === itemId && this.#type === type) return this.#latest;
    const found = this.#values.get(keyOf(type, itemId));
    if (found !== undefined) this.#remember(type, itemId, found);
    return found;
  }

  /** What belongs to a text; made if there is nothing. */
  getOrCreate(type: DeltaType, itemId: string, make: () => Value): Value {
    return this.get(type, itemId) ?? this.set(type, itemId, make());
  }

  set(type: DeltaType, itemId: string, value: Value): Value {
    this.#values.set(keyOf(type, itemId), value);
    this.#remember(type, itemId, value);
    return value;
  }

  values(): IterableIterator<Value> {
    return this.#values.values();
  }

  clear(): void {
    this.#values.clear();
    this.#type = undefined;
    this.#itemId = undefined;
    this.#latest = undefined;
  }

  #remember(type: DeltaType, itemId: string, value: Value): void {
    this.#type = type;
    this.#itemId = itemId;
    this.#latest = value;
  }
}

function keyOf(type: DeltaType, itemId: string): string {
  return `${itemId} ${type}`;
}
