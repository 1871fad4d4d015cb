type Schema = Readonly<Record<string, unknown>>;

/** Deeper schemas are recursive ones; an empty object ends them. */
const DEPTH_LIMIT = 8;
/** However large a value the schema insists on, no more of it is made. */
const SIZE_LIMIT = 10_000;

/** An answer as JSON: the smallest value that fits the schema, with the text wherever it allows a free one. */
export function answerAsJson(text: string, schema: Schema | undefined): string {
  return JSON.stringify(schema === undefined ? { answer: text } : valueFitting(schema, text), null, 2);
}

/** The smallest value that fits the schema, with the text wherever it allows a free one. */
export function valueFitting(schema: Schema, text: string): unknown {
  return new Sample(text, schema).of(schema, 0);
}

class Sample {
  readonly #text: string;
  readonly #root: Schema;
  #made = 0;

  constructor(text: string, root: Schema) {
    this.#text = text;
    this.#root = root;
  }

  of(given: unknown, depth: number): unknown {
    const schema = this.#resolved(given);
    this.#made += 1;
    if (schema === undefined || depth > DEPTH_LIMIT || this.#made > SIZE_LIMIT) return {};
    if ("const" in schema) return schema.const;
    const chosen = firstOf(schema.enum) ?? schema.default;
    if (chosen !== undefined) return chosen;
    const branch = firstOf(schema.anyOf) ?? firstOf(schema.oneOf);
    if (branch !== undefined) return this.of(branch, depth + 1);
    return this.#ofType(typeOf(schema), schema, depth);
  }

  #ofType(type: unknown, schema: Schema, depth: number): unknown {
    switch (type) {
      case "string":
        return this.#string(schema);
      case "number":
      case "integer":
        return number(schema);
      case "boolean":
        return true;
      case "null":
        return null;
      case "array":
        return this.#array(schema, depth);
      default:
        return this.#object(schema, depth);
    }
  }

  #string(schema: Schema): string {
    const shortest = sizeOf(schema.minLength, 0);
    const longest = sizeOf(schema.maxLength, Number.POSITIVE_INFINITY);
    return [...this.#text.padEnd(shortest, ".")].slice(0, longest).join("");
  }

  #array(schema: Schema, depth: number): unknown[] {
    const length = sizeOf(schema.minItems, Math.min(1, sizeOf(schema.maxItems, 1)));
    return Array.from({ length }, () => this.of(schema.items ?? { type: "string" }, depth + 1));
  }

  #object(schema: Schema, depth: number): Record<string, unknown> {
    const properties = isSchema(schema.properties) ? schema.properties : {};
    return Object.fromEntries(
      Object.entries(properties).map(([name, each]) => [name, this.of(each, depth + 1)] as const),
    );
  }

  /** Follows references inside the document; others cannot be known offline. */
  #resolved(given: unknown): Schema | undefined {
    let schema = given;
    for (
      let hops = 0;
      hops <= DEPTH_LIMIT && isSchema(schema) && typeof schema.$ref === "string";
      hops += 1
    ) {
      const path = schema.$ref.replace(/^#\/?/, "").split("/").filter(Boolean);
      schema = path.reduce<unknown>((at, name) => (isSchema(at) ? at[name] : undefined), this.#root);
    }
    return isSchema(schema) ? schema : undefined;
  }
}

function number(schema: Schema): number {
  const low = schema.minimum ?? schema.exclusiveMinimum;
  const high = schema.maximum ?? schema.exclusiveMaximum;
  if (typeof low === "number") return Math.ceil(low) + ("exclusiveMinimum" in schema ? 1 : 0);
  if (typeof high === "number" && high <= 0) return Math.floor(high) - ("exclusiveMaximum" in schema ? 1 : 0);
  return 0;
}

function typeOf(schema: Schema): unknown {
  const { type } = schema;
  if (Array.isArray(type)) return type[0];
  if (type !== undefined) return type;
  return "items" in schema ? "array" : "object";
}

function firstOf(list: unknown): unknown {
  return Array.isArray(list) ? list[0] : undefined;
}

function sizeOf(value: unknown, otherwise: number): number {
  return typeof value === "number" ? Math.min(Math.max(0, value), SIZE_LIMIT) : otherwise;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
