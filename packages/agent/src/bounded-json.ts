import { truncate } from "@flint/core/text";
import { isRecord } from "@flint/protocol";

const LEFT_OUT = "… left out …";

/** The cost of a value without text, about its length in JSON. */
const VALUE_COST = 8;

/** The bounds of a JSON value. */
export interface JsonBounds {
  readonly depth: number;
  /** All strings of it together. */
  readonly characters: number;
}

/** Reports whether a JSON value is within the bounds. */
export function fits(value: unknown, { depth, characters }: JsonBounds): boolean {
  return isWithin(value, depth) && (JSON.stringify(value) ?? "").length <= characters;
}

/** Copies a JSON value within the bounds, with well-formed strings; what is missing is marked. */
export function boundedJson(value: unknown, bounds: JsonBounds): unknown {
  return new Copy(bounds.characters).of(value, bounds.depth);
}

/** Copies an object with all its strings well-formed. */
export function wellFormedObject(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return new Copy(Number.POSITIVE_INFINITY).members(value, Number.POSITIVE_INFINITY);
}

class Copy {
  #left: number;

  constructor(characters: number) {
    this.#left = characters;
  }

  of(value: unknown, depth: number): unknown {
    if (typeof value === "string") return this.#text(value);
    if (Array.isArray(value)) return depth === 0 ? LEFT_OUT : this.#list(value, depth);
    if (isRecord(value)) return depth === 0 ? LEFT_OUT : this.members(value, depth);
    this.#left -= VALUE_COST;
    return value;
  }

  members(value: Readonly<Record<string, unknown>>, depth: number): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    for (const [key, member] of Object.entries(value)) {
      if (key === "__proto__") continue;
      if (this.#left <= 0) {
        entries.push(["…", LEFT_OUT]);
        break;
      }
      entries.push([this.#text(key), this.of(member, depth - 1)]);
    }
    return Object.fromEntries(entries);
  }

  #list(values: readonly unknown[], depth: number): unknown[] {
    const copies: unknown[] = [];
    for (const value of values) {
      if (this.#left <= 0) {
        copies.push(LEFT_OUT);
        break;
      }
      copies.push(this.of(value, depth - 1));
    }
    return copies;
  }

  #text(text: string): string {
    const kept = truncate(text, Math.max(1, this.#left));
    this.#left -= kept.length + 2;
    return kept;
  }
}

function isWithin(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => isWithin(inner, depth - 1));
}
