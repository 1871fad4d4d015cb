import { alternativesOf, type JsonSchema, referredName, type SchemaPart } from "@flint/protocol/schema";
import { code, listed } from "./markdown.ts";

/** Returns the link to the description of a named type. */
export type LinkTo = (typeName: string) => string;

/** Describes the type of a field: short enough for a table, with links to named types. */
export function typeText(schema: SchemaPart, linkTo: LinkTo): string {
  if (typeof schema === "boolean") return schema ? "anything" : "nothing";
  const words = wordsOf(schema, linkTo);
  return schema.default === undefined ? words : `${words}, default ${code(JSON.stringify(schema.default))}`;
}

function wordsOf(schema: JsonSchema, linkTo: LinkTo): string {
  const name = referredName(schema);
  if (name !== undefined) return `[${name}](${linkTo(name)})`;
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum !== undefined)
    return listed(
      schema.enum.map((value) => code(JSON.stringify(value))),
      "or",
    );
  const alternatives = alternativesOf(schema);
  if (alternatives !== undefined)
    return listed(
      alternatives.map((each) => typeText(each, linkTo)),
      "or",
    );
  return plainWords(schema, linkTo);
}

function plainWords(schema: JsonSchema, linkTo: LinkTo): string {
  switch (schema.type) {
    case "string":
      return stringWords(schema);
    case "number":
    case "integer":
      return `${schema.type}${range(schema.minimum, schema.maximum)}`;
    case "array":
      return listWords(schema, linkTo);
    case "object":
      return mapWords(schema, linkTo);
    case "boolean":
    case "null":
      return schema.type;
    default:
      return "anything";
  }
}

function stringWords({ pattern, minLength = 0, maxLength }: JsonSchema): string {
  const start = pattern === undefined ? "string" : patternWords(pattern);
  const atLeast = minLength > 0 ? ", not empty" : "";
  return `${start}${atLeast}${maxLength === undefined ? "" : `, at most ${maxLength} characters`}`;
}

function patternWords(pattern: string): string {
  const beginning = /^\^\\?(\W)\.\*$/.exec(pattern)?.[1];
  return beginning === undefined
    ? `string matching ${code(pattern)}`
    : `string that begins with ${code(beginning)}`;
}

function listWords({ items, minItems = 0 }: JsonSchema, linkTo: LinkTo): string {
  const item = items === undefined || Array.isArray(items) ? "anything" : typeText(items, linkTo);
  return `list of ${item}${minItems > 0 ? `, at least ${minItems}` : ""}`;
}

function mapWords({ properties, additionalProperties = true }: JsonSchema, linkTo: LinkTo): string {
  if (properties !== undefined) return "object";
  const values = typeText(isEmpty(additionalProperties) ? true : additionalProperties, linkTo);
  return values === "anything" ? "object with any fields" : `map of ${values} by name`;
}

function isEmpty(schema: SchemaPart): boolean {
  return typeof schema === "object" && Object.keys(schema).length === 0;
}

/** zod bounds every integer by what a double can hold exactly; that says nothing to a reader. */
function range(minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER): string {
  const hasMinimum = minimum !== Number.MIN_SAFE_INTEGER;
  const hasMaximum = maximum !== Number.MAX_SAFE_INTEGER;
  if (hasMinimum && hasMaximum) return `, ${minimum} to ${maximum}`;
  if (hasMinimum) return `, at least ${minimum}`;
  return hasMaximum ? `, at most ${maximum}` : "";
}
