import { type JsonSchema, referredName, type SchemaPart } from "@flint/protocol/schema";
import { code, table } from "./markdown.ts";
import { type LinkTo, typeText } from "./type-text.ts";

/** The last column of a field table: whether the writer must give a field, or the reader can rely on it. */
export type Presence = "Required" | "Always there";

/**
 * The fields of an object as a table; the fields of an object inside it follow with its name before theirs.
 * `_meta`, which every object may have, is left out. Gives an empty text for what has no fields of its own.
 */
export function fieldTable(schema: JsonSchema, presence: Presence, linkTo: LinkTo): string {
  const rows = fieldRows(schema, "", linkTo);
  return rows.length === 0 ? "" : table(["Field", "Type", presence], rows);
}

/** The same under a heading word; says so when there is nothing to list. */
export function fieldBlock(title: string, schema: JsonSchema, presence: Presence, linkTo: LinkTo): string {
  const name = referredName(schema);
  if (name !== undefined && name !== "Empty") return `**${title}:** [${name}](${linkTo(name)})`;
  const fields = fieldTable(schema, presence, linkTo);
  return fields === "" ? `**${title}:** none` : `**${title}**\n\n${fields}`;
}

function fieldRows(schema: JsonSchema, prefix: string, linkTo: LinkTo): string[][] {
  const fields = Object.entries(schema.properties ?? {}).filter(([name]) => name !== "_meta");
  return fields.flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const required = schema.required?.includes(name) ? "yes" : "";
    return [[code(path), typeText(field, linkTo), required], ...innerRows(field, path, linkTo)];
  });
}

function innerRows(field: SchemaPart, path: string, linkTo: LinkTo): string[][] {
  if (typeof field === "boolean") return [];
  const { items } = field;
  if (items !== undefined && typeof items === "object" && !Array.isArray(items)) {
    return innerRows(items, `${path}[]`, linkTo);
  }
  const inner = [field, ...(field.anyOf ?? [])].find(hasFields);
  return inner === undefined ? [] : fieldRows(inner, `${path}.`, linkTo);
}

function hasFields(part: SchemaPart): part is JsonSchema {
  return typeof part === "object" && part.properties !== undefined;
}
