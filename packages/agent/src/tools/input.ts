import { isRecord } from "@flint/protocol";
/** A JSON Schema for a model. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** One field of a tool's input: its schema for the model, and its validation. */
export interface InputField<Value> {
  readonly schema: JsonSchema;
  readonly isOptional: boolean;
  /** Returns the value if it is valid; throws an InvalidInput that names it otherwise. */
  read(value: unknown, name: string): Value;
}

/** The fields of a tool's input. */
export type InputFields = Readonly<Record<string, InputField<unknown>>>;

/** The value of a field. */
export type ValueOf<Read> = Read extends InputField<infer Value> ? Value : never;

/** The values of several fields. */
export type InputValues<Shapes extends InputFields> = {
  readonly [Name in keyof Shapes]: ValueOf<Shapes[Name]>;
};

/** The reason an input is invalid, for the model that sent it. */
export class InvalidInput extends Error {
  override readonly name = "InvalidInput";
}

/** A string, not empty unless that is allowed. */
export function string(
  description: string,
  bounds: { maxLength?: number; mayBeEmpty?: boolean } = {},
): InputField<string> {
  const { maxLength = 1_000_000, mayBeEmpty = false } = bounds;
  const schema = { type: "string", description, ...(mayBeEmpty ? {} : { minLength: 1 }) };
  return required(schema, (value, name) => {
    if (typeof value !== "string") throw new InvalidInput(`${name} must be a string.`);
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
    throw new InvalidInput(`${name} must be a whole number from ${minimum} to ${maximum}.`);
  });
}

/** True or false. */
export function boolean(description: string): InputField<boolean> {
  return required({ type: "boolean", description }, (value, name) => {
    if (typeof value === "boolean") return value;
    throw new InvalidInput(`${name} must be true or false.`);
  });
}

/** One of a few strings. */
export function choice<const Value extends string>(
  description: string,
  values: readonly Value[],
): InputField<Value> {
  return required({ type: "string", description, enum: values }, (value, name) => {
    const found = values.find((each) => each === value);
    if (found !== undefined) return found;
    throw new InvalidInput(`${name} must be one of ${values.join(", ")}.`);
  });
}

/** Several values of one kind. */
export function array<Value>(
  description: string,
  item: InputField<Value>,
  maximum: number,
): InputField<readonly Value[]> {
  const schema = { type: "array", description, items: item.schema, maxItems: maximum };
  return required(schema, (value, name) => {
    if (!Array.isArray(value)) throw new InvalidInput(`${name} must be an array.`);
    if (value.length > maximum) throw new InvalidInput(`${name} has more than ${maximum} entries.`);
    return value.map((each, index) => item.read(each, `${name}[${index}]`));
  });
}

/** A value that may be left out. Null counts as left out, because models write it. */
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
        `${within(name, unknown)} is not a known field; expected ${Object.keys(fields).join(", ")}.`,
      );
    }
    const read = entries.map(([key, shape]) => {
      const label = within(name, key);
      if (!input.has(key) && !shape.isOptional) throw new InvalidInput(`${label} is missing.`);
      return [key, shape.read(input.get(key), label)];
    });
    // Each value was read by its own field.
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
  throw new InvalidInput(`${name || "The input"} must be an object.`);
}

function within(name: string, key: string): string {
  return name === "" ? key : `${name}.${key}`;
}
