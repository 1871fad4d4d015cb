import type { JsonSchema, SchemaPart } from "@flint/protocol/schema";
import type { Dice } from "./dice.ts";
import type { SeenNames } from "./seen-names.ts";

/** Values of any kind that stand where others belong. */
const WRONG: readonly unknown[] = [null, true, 0, -1, 1.5, 2 ** 53, "", [], {}, [null], { a: { b: [] } }];

/** Strings that tend to break programs. */
const STRINGS: readonly string[] = [
  "",
  "a",
  "hello",
  "../../etc/passwd",
  "a\0b",
  "__proto__",
  "\ud800",
  "\u{1f4a1}\u202e",
  "%00",
  "/nowhere/at/all",
  "x".repeat(5_000),
  "run `true`",
];

/** Strings that a real client would send where any string is valid. */
const REALISTIC: readonly string[] = ["hello", "run `true`", "a name"];

/** Makes values that fit a schema, or nearly: right in their shape, with something wrong in them now and then. */
export class NearValues {
  readonly #dice: Dice;
  readonly #seen: SeenNames;

  constructor(dice: Dice, seen: SeenNames) {
    this.#dice = dice;
    this.#seen = seen;
  }

  /** A value for a schema of draft 2020-12 that is complete in itself; a slip in it is this likely at each position. */
  of(schema: JsonSchema, slips: number): unknown {
    return new OneValue(this.#dice, this.#seen, schema, slips).make(schema, "", 0);
  }
}

class OneValue {
  readonly #dice: Dice;
  readonly #seen: SeenNames;
  readonly #root: JsonSchema;
  readonly #slips: number;

  constructor(dice: Dice, seen: SeenNames, root: JsonSchema, slips: number) {
    this.#dice = dice;
    this.#seen = seen;
    this.#root = root;
    this.#slips = slips;
  }

  make(part: SchemaPart, name: string, depth: number): unknown {
    const dice = this.#dice;
    if (typeof part === "boolean" || depth > 12 || dice.chance(this.#slips)) return dice.among(WRONG);
    if (part.$ref !== undefined) return this.make(referred(part.$ref, this.#root), name, depth + 1);
    if (part.const !== undefined) return part.const;
    if (part.enum !== undefined) return dice.among(part.enum);
    const alternatives = part.anyOf ?? part.oneOf;
    if (alternatives !== undefined) return this.make(dice.among(alternatives), name, depth + 1);
    return this.#ofType(part, name, depth);
  }

  #ofType(part: JsonSchema, name: string, depth: number): unknown {
    const dice = this.#dice;
    switch (part.type) {
      case "string":
        return this.#text(name);
      case "integer":
        return dice.among([0, 1, 2, 50, -1, 2 ** 31]);
      case "number":
        return dice.among([0, 1, 0.5, 1e9, -1]);
      case "boolean":
        return dice.chance(0.5);
      case "null":
        return null;
      case "array":
        return this.#list(Array.isArray(part.items) ? true : (part.items ?? true), name, depth);
      case "object":
        return this.#object(part, depth);
      default:
        return dice.among(WRONG);
    }
  }

  #text(name: string): string {
    if (this.#dice.chance(this.#slips * 4)) return this.#dice.among(STRINGS);
    return this.#dice.among(this.#seen.named(name) ?? REALISTIC);
  }

  #list(part: SchemaPart, name: string, depth: number): unknown[] {
    return Array.from({ length: this.#dice.among([1, 1, 1, 2, 0]) }, () => this.make(part, name, depth + 1));
  }

  #object(part: JsonSchema, depth: number): Record<string, unknown> {
    const required = new Set(part.required ?? []);
    const value: Record<string, unknown> = {};
    for (const [name, field] of Object.entries(part.properties ?? {})) {
      const probability = required.has(name) ? 1 - this.#slips : 0.15;
      if (this.#dice.chance(probability)) value[name] = this.make(field, name, depth + 1);
    }
    if (this.#dice.chance(this.#slips)) value[this.#dice.among(STRINGS)] = this.#dice.among(WRONG);
    return value;
  }
}

function referred(path: string, root: JsonSchema): SchemaPart {
  const name = path.split("/").at(-1) ?? "";
  return path === "#" ? root : (root.$defs?.[name] ?? true);
}
