import {
  CODEX_ITEMS,
  CODEX_NOTIFICATIONS,
  CODEX_REQUESTS,
  CODEX_SERVER_REQUESTS,
  type CodexSchema,
  fieldsOf,
} from "@flint/protocol/codex";
import { type JsonObject, listOf, objectOf } from "../../shared/json.ts";

/** The schemas that Codex prints: each a list of messages with a method and params. */
export interface CodexSchemas {
  readonly requests: unknown;
  readonly serverRequests: unknown;
  readonly notifications: unknown;
}

/** A printed schema, and the definitions that it refers to. */
interface Printed {
  readonly schema: JsonObject;
  readonly definitions: JsonObject;
}

/** Codex has to accept a field that Flint sends, and to send one that Flint reads. */
type Direction = "sent" | "read";

/** The differences between Flint's part of the protocol and the schemas that Codex printed; empty if there are none. */
export function compareSchemas(schemas: CodexSchemas): readonly string[] {
  return [
    ...compareFamily("request", CODEX_REQUESTS, schemas.requests, "sent"),
    ...compareFamily("request of Codex", CODEX_SERVER_REQUESTS, schemas.serverRequests, "read"),
    ...compareFamily("notification", CODEX_NOTIFICATIONS, schemas.notifications, "read"),
    ...compareItems(schemas.notifications),
  ];
}

type Rows = Readonly<Record<string, { readonly params: CodexSchema }>>;

function compareFamily(kind: string, rows: Rows, generated: unknown, direction: Direction): string[] {
  const definitions = objectOf(objectOf(generated).definitions);
  const methods = new Map(
    listOf(objectOf(generated).oneOf).map((entry) => [methodOf(entry), entry] as const),
  );
  return Object.entries(rows).flatMap(([method, { params }]) => {
    const entry = methods.get(method);
    if (entry === undefined) return [`The ${kind} ${method} no longer exists.`];
    const schema = resolved(objectOf(objectOf(entry).properties).params, definitions);
    return compareShape(`${kind} ${method}`, params, { schema, definitions }, direction);
  });
}

/** Each type of item has its own schema. */
function compareItems(generated: unknown): string[] {
  const definitions = objectOf(objectOf(generated).definitions);
  const variants = listOf(resolved(definitions.ThreadItem, definitions).oneOf).map((entry) =>
    resolved(entry, definitions),
  );
  return Object.entries(CODEX_ITEMS).flatMap(([type, schema]) => {
    const found = variants.find((variant) => typesOf(variant, definitions).includes(type));
    if (found === undefined) return [`The item ${type} no longer exists.`];
    return compareShape(`item ${type}`, schema, { schema: found, definitions }, "read");
  });
}

function typesOf(variant: JsonObject, definitions: JsonObject): readonly unknown[] {
  const type = resolved(propertiesOf(variant, definitions).type, definitions);
  return type.const === undefined ? listOf(type.enum) : [type.const];
}

function compareShape(where: string, ours: CodexSchema, printed: Printed, direction: Direction): string[] {
  const properties = propertiesOf(printed.schema, printed.definitions);
  const fields = fieldsOf(ours);
  const lost = fields
    .filter(({ name, isOptional }) => !(name in properties) && (direction === "sent" || !isOptional))
    .map(({ name }) => `The ${where} no longer has the field ${name}.`);
  if (direction === "read") return lost;
  const added = listOf(printed.schema.required)
    .filter((required) => !fields.some(({ name }) => name === required))
    .map((required) => `The ${where} requires a field ${String(required)} that Flint does not send.`);
  return [...lost, ...added];
}

/** All fields of a printed schema, including those of its parts. */
function propertiesOf(schema: JsonObject, definitions: JsonObject): JsonObject {
  const parts = [...listOf(schema.allOf), ...listOf(schema.oneOf), ...listOf(schema.anyOf)];
  const ofParts = parts.map((part) => propertiesOf(resolved(part, definitions), definitions));
  return Object.assign({}, ...ofParts, objectOf(schema.properties));
}

function resolved(schema: unknown, definitions: JsonObject): JsonObject {
  const { $ref: reference } = objectOf(schema);
  if (typeof reference !== "string") return objectOf(schema);
  return resolved(definitions[reference.replace(/^#\/definitions\//, "")], definitions);
}

function methodOf(entry: unknown): unknown {
  const method = objectOf(objectOf(objectOf(entry).properties).method);
  return method.const ?? listOf(method.enum)[0];
}
