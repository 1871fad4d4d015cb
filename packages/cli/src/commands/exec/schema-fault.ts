/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

const TYPES = ["array", "boolean", "integer", "null", "number", "object", "string"];

/** Keys whose value is one schema, several in a list, or several by name. */
const SINGLE = ["items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"];
const LISTED = ["anyOf", "oneOf", "allOf", "prefixItems", "items"];
const NAMED = ["properties", "patternProperties", "$defs", "definitions"];

/** What is wrong with a JSON Schema, and where; undefined if nothing is. Words that are not ours are left alone. */
export function schemaFault(schema: unknown, where = "#"): string | undefined {
  if (typeof schema === "boolean") return undefined;
  if (!isObject(schema)) return `${where} is neither an object nor true or false`;
  return ownFault(schema, where) ?? firstFault(partsOf(schema, where));
}

function ownFault({ type, required, enum: choices }: Schema, where: string): string | undefined {
  const types = type === undefined ? [] : [type].flat();
  const unknown = types.find((word) => typeof word !== "string" || !TYPES.includes(word));
  if (unknown !== undefined) {
    return `${where}/type is ${JSON.stringify(unknown)}; there are ${TYPES.join(", ")}`;
  }
  if (required !== undefined && !isTexts(required)) return `${where}/required is not a list of names`;
  return choices === undefined || Array.isArray(choices) ? undefined : `${where}/enum is not a list`;
}

type Part = readonly [schema: unknown, where: string];

function partsOf(schema: Schema, where: string): Part[] {
  const single = SINGLE.flatMap((key): Part[] => {
    const value = schema[key];
    return value === undefined || Array.isArray(value) ? [] : [[value, `${where}/${key}`]];
  });
  const listed = LISTED.flatMap((key) => {
    const value = schema[key];
    return Array.isArray(value) ? value.map((each, place): Part => [each, `${where}/${key}/${place}`]) : [];
  });
  const named = NAMED.flatMap((key) => {
    const value = schema[key];
    if (!isObject(value)) return [];
    return Object.entries(value).map(([name, each]): Part => [each, `${where}/${key}/${name}`]);
  });
  return [...single, ...listed, ...named];
}

function firstFault(parts: readonly Part[]): string | undefined {
  for (const [schema, where] of parts) {
    const fault = schemaFault(schema, where);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
