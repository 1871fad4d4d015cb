import { isRecord } from "@flint/protocol";
import {
  CODEX_ITEMS,
  CODEX_NOTIFICATIONS,
  CODEX_REQUESTS,
  CODEX_SERVER_REQUESTS,
  type CodexSchema,
  fieldsOf,
} from "@flint/protocol/codex";

/** The schemas that Codex prints: each a list of messages with a method and params. */
export interface GeneratedWords {
  readonly requests: unknown;
  readonly serverRequests: unknown;
  readonly notifications: unknown;
}

type Json = Readonly<Record<string, unknown>>;

/** One printed schema, and where its references lead. */
interface Printed {
  readonly schema: Json;
  readonly definitions: Json;
}

/** A field that Flint sends has to be known; one that Flint reads has to be there. */
type Direction = "sent" | "read";

/** What of Flint's words is gone or has changed in those that Codex printed; empty if all is as it was. */
export function compareWords(words: GeneratedWords): readonly string[] {
  return [
    ...compareFamily("request", CODEX_REQUESTS, words.requests, "sent"),
    ...compareFamily("request of Codex", CODEX_SERVER_REQUESTS, words.serverRequests, "read"),
    ...compareFamily("notification", CODEX_NOTIFICATIONS, words.notifications, "read"),
    ...compareItems(words.notifications),
  ];
}

type Rows = Readonly<Record<string, { readonly params: CodexSchema }>>;

function compareFamily(kind: string, rows: Rows, generated: unknown, direction: Direction): string[] {
  const definitions = jsonOf(jsonOf(generated).definitions);
  const methods = new Map(listOf(jsonOf(generated).oneOf).map((entry) => [methodOf(entry), entry] as const));
  return Object.entries(rows).flatMap(([method, { params }]) => {
    const entry = methods.get(method);
    if (entry === undefined) return [`The ${kind} ${method} is gone.`];
    const schema = resolved(jsonOf(jsonOf(entry).properties).params, definitions);
    return compareShape(`${kind} ${method}`, params, { schema, definitions }, direction);
  });
}

/** Items are told apart by their type, one schema each. */
function compareItems(generated: unknown): string[] {
  const definitions = jsonOf(jsonOf(generated).definitions);
  const variants = listOf(resolved(definitions.ThreadItem, definitions).oneOf).map((entry) =>
    resolved(entry, definitions),
  );
  return Object.entries(CODEX_ITEMS).flatMap(([type, schema]) => {
    const found = variants.find((variant) => typesOf(variant, definitions).includes(type));
    if (found === undefined) return [`The item ${type} is gone.`];
    return compareShape(`item ${type}`, schema, { schema: found, definitions }, "read");
  });
}

function typesOf(variant: Json, definitions: Json): readonly unknown[] {
  const type = resolved(propertiesOf(variant, definitions).type, definitions);
  return type.const === undefined ? listOf(type.enum) : [type.const];
}

function compareShape(where: string, ours: CodexSchema, printed: Printed, direction: Direction): string[] {
  const properties = propertiesOf(printed.schema, printed.definitions);
  const fields = fieldsOf(ours);
  const lost = fields
    .filter(({ name, isOptional }) => !(name in properties) && (direction === "sent" || !isOptional))
    .map(({ name }) => `The ${where} has no field ${name} any more.`);
  if (direction === "read") return lost;
  const added = listOf(printed.schema.required)
    .filter((wanted) => !fields.some(({ name }) => name === wanted))
    .map((wanted) => `The ${where} wants a field ${String(wanted)} that Flint does not send.`);
  return [...lost, ...added];
}

/** All fields of a printed schema, those of its parts included. */
function propertiesOf(schema: Json, definitions: Json): Json {
  const parts = [...listOf(schema.allOf), ...listOf(schema.oneOf), ...listOf(schema.anyOf)];
  const ofParts = parts.map((part) => propertiesOf(resolved(part, definitions), definitions));
  return Object.assign({}, ...ofParts, jsonOf(schema.properties));
}

function resolved(schema: unknown, definitions: Json): Json {
  const { $ref: reference } = jsonOf(schema);
  if (typeof reference !== "string") return jsonOf(schema);
  return resolved(definitions[reference.replace(/^#\/definitions\//, "")], definitions);
}

function methodOf(entry: unknown): unknown {
  const method = jsonOf(jsonOf(jsonOf(entry).properties).method);
  return method.const ?? listOf(method.enum)[0];
}

function jsonOf(value: unknown): Json {
  return isRecord(value) ? { ...value } : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
