import type { DeltaType } from "@flint/protocol";

/**
 * A map with a value for each streamed text, which is an item and a type of delta. Deltas of one text come in a row, so
 * the last value is cached.
 */
export class StreamMap<Value> {
  readonly #values = new Map<string, Value>();
  #type: DeltaType | undefined;
  #itemId: string | undefined;
  #latest: Value | undefined;

  get size(): number {
    return this.#values.size;
  }

  /** The value of a text, if there is one. */
  get(type: DeltaType, itemId: string): Value | undefined {
    if (this.#itemId === itemId && this.#type === type) return this.#latest;
    const found = this.#values.get(keyOf(type, itemId));
    if (found !== undefined) this.#remember(type, itemId, found);
    return found;
  }

  /** The value of a text, created if there is none. */
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
