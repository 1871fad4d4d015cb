import { isRecord } from "@flint/protocol";
/** A JSON Schema, as models get it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** One value of an input: what a model is told about it, and how it is read. */
export interface InputField<Value> {
  readonly schema: JsonSchema;
  readonly isOptional: boolean;
  /** The value if it fits; throws an InputRefusal that names it otherwise. */
  read(value: unknown, name: string): Value;
}

/** Named values, as the input of a tool is. */
export type InputFields = Readonly<Record<string, InputField<unknown>>>;

/** What is read by a shape. */
export type ValueOf<Read> = Read extends InputField<infer Value> ? Value : never;

/** What is read by the shapes of several fields. */
export type InputValues<Shapes extends InputFields> = {
  readonly [Name in keyof Shapes]: ValueOf<Shapes[Name]>;
};

/** Why an input does not fit, in words for the model that made it. */
export class InvalidInput extends Error {
  override readonly name = "InputRefusal";
}

/** A text, not empty unless that is allowed. */
export function string(
  description: string,
  bounds: { maxLength?: number; mayBeEmpty?: boolean } = {},
): InputField<string> {
  const { maxLength = 1_000_000, mayBeEmpty = false } = bounds;
  const schema = { type: "string", description, ...(mayBeEmpty ? {} : { minLength: 1 }) };
  return required(schema, (value, name) => {
    if (typeof value !== "string") throw new InvalidInput(`${name} has to be a text.`);
    if (value === "" && !mayBeEmpty) throw new InvalidInput(`${name} must not be empty.`);
    if (value.length > maxLength) throw new InvalidInput(`${name} is longer than ${maxLength} characters.`);
    return value;
  });
}

/** A whole number between two bounds, both included. */
export function integer(description: string, minimum: number, maximum: number): InputField<number> {
  return required({ type: "integer", description, minimum, maximum }, (value, name) => {
    if (typeof value === "number" && Number.isInteger(value) && value >= minimum && value <= maximum)
      return value;
    throw new InvalidInput(`${name} has to be a whole number from ${minimum} to ${maximum}.`);
  });
}

/** Yes or no. */
export function boolean(description: string): InputField<boolean> {
  return required({ type: "boolean", description }, (value, name) => {
    if (typeof value === "boolean") return value;
    throw new InvalidInput(`${name} has to be true or false.`);
  });
}

/** One of a few words. */
export function choice<const Word extends string>(
  description: string,
  words: readonly Word[],
): InputField<Word> {
  return required({ type: "string", description, enum: words }, (value, name) => {
    const found = words.find((word) => word === value);
    if (found !== undefined) return found;
    throw new InvalidInput(`${name} has to be one of ${words.join(", ")}.`);
  });
}

/** Several values of one shape. */
export function array<Value>(
  description: string,
  item: InputField<Value>,
  maximum: number,
): InputField<readonly Value[]> {
  const schema = { type: "array", description, items: item.schema, maxItems: maximum };
  return required(schema, (value, name) => {
    if (!Array.isArray(value)) throw new InvalidInput(`${name} has to be a list.`);
    if (value.length > maximum) throw new InvalidInput(`${name} has more than ${maximum} entries.`);
    return value.map((each, index) => item.read(each, `${name}[${index}]`));
  });
}

/** A value that may be left out. Null counts as left out, because models write it so. */
export function optional<Value>(shape: InputField<Value>): InputField<Value | undefined> {
  return {
    schema: shape.schema,
    isOptional: true,
    read: (value, name) => (value === undefined || value === null ? undefined : shape.read(value, name)),
  };
}

/** An object of exactly these fields. */
export function object<Shapes extends InputFields>(fields: Shapes): InputField<InputValues<Shapes>> {
  const entries = Object.entries(fields);
  const schema = {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, shape]) => [name, shape.schema])),
    required: entries.filter(([, shape]) => !shape.isOptional).map(([name]) => name),
    additionalProperties: false,
  };
  return required(schema, (value, name) => {
    const input = ownFields(value, name);
    const unknown = [...input.keys()].find((key) => !Object.hasOwn(fields, key));
    if (unknown !== undefined) {
      throw new InvalidInput(
        `${within(name, unknown)} is not known. Known are: ${Object.keys(fields).join(", ")}.`,
      );
    }
    const read = entries.map(([key, shape]) => {
      const label = within(name, key);
      if (!input.has(key) && !shape.isOptional) throw new InvalidInput(`${label} is missing.`);
      return [key, shape.read(input.get(key), label)];
    });
    // Each field was read by its own shape.
    return Object.fromEntries(read) as InputValues<Shapes>;
  });
}

function required<Value>(schema: JsonSchema, read: InputField<Value>["read"]): InputField<Value> {
  return { schema, isOptional: false, read };
}

function ownFields(value: unknown, name: string): ReadonlyMap<string, unknown> {
  if (isRecord(value)) {
    return new Map(Object.entries(value).filter(([, field]) => field !== undefined));
  }
  throw new InvalidInput(`${name || "The input"} has to be an object.`);
}

function within(name: string, key: string): string {
  return name === "" ? key : `${name}.${key}`;
}
