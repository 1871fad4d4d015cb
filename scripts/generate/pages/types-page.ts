import { ITEMS } from "@flint/protocol";
import {
  alternativesOf,
  inlineType,
  itemTypeName,
  type JsonSchema,
  referredName,
  type SchemaDocument,
  type SchemaPart,
} from "@flint/protocol/schema";
import { fieldTable } from "../fields.ts";
import { flintType } from "../links.ts";
import { code, GENERATED, page } from "../markdown.ts";
import { type LinkTo, typeText } from "../type-text.ts";

/** The description of each type, by its name. */
export type TypeDocs = ReadonlyMap<string, string>;

/** Every named type of the Flint wire but the items, which have a page of their own. */
export function typesPage(document: SchemaDocument, docs: TypeDocs): string {
  const items = new Set(Object.keys(ITEMS).map(itemTypeName));
  const types = Object.entries(document.$defs).filter(([name]) => !items.has(name));
  return page([
    GENERATED,
    "# Types",
    "The shapes that [methods](methods.md) and [events](events.md) share. [Items](items.md) have a page of their own.",
    ...types.flatMap((type) => typeSection(2, type, docs, flintType)),
  ]);
}

/** A named type under a heading of its own: what it is, then its fields, its alternatives or its form. */
export function typeSection(
  level: number,
  [name, schema]: readonly [string, JsonSchema],
  docs: TypeDocs,
  linkTo: LinkTo,
): string[] {
  return [
    `${"#".repeat(level)} ${name}`,
    docs.get(name) ?? schema.description ?? "",
    shapeText(schema, linkTo),
  ];
}

function shapeText(schema: JsonSchema, linkTo: LinkTo): string {
  if (schema.properties !== undefined) return fieldTable(schema, "Required", linkTo);
  if (schema.enum !== undefined) return `One of ${typeText(schema, linkTo)}.`;
  const alternatives = alternativesOf(schema);
  if (alternatives === undefined) return plainText(schema, linkTo);
  return ["One of:", "", ...alternatives.map((each) => `- ${alternativeText(each, linkTo)}`)].join("\n");
}

function plainText(schema: JsonSchema, linkTo: LinkTo): string {
  return schema.type === "object" ? code(inlineType(withoutMeta(schema))) : `A ${typeText(schema, linkTo)}.`;
}

function alternativeText(schema: SchemaPart, linkTo: LinkTo): string {
  if (typeof schema === "boolean" || referredName(schema) !== undefined) return typeText(schema, linkTo);
  return code(inlineType(withoutMeta(schema)));
}

/** The field that every object may have is described once and would only be in the way here. */
function withoutMeta(schema: JsonSchema): JsonSchema {
  const { additionalProperties, properties } = schema;
  const values =
    typeof additionalProperties === "object"
      ? { additionalProperties: withoutMeta(additionalProperties) }
      : {};
  if (properties === undefined) return { ...schema, ...values };
  const { _meta, ...fields } = properties;
  return { ...schema, ...values, properties: fields };
}
