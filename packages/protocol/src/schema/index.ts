export { jsonSchemaOf } from "./document.ts";

import * as z from "zod/mini";
import { EVENTS, isEventType } from "../events.ts";
import { FLINT } from "../flint.ts";
import { HARNESS, HARNESS_ITEMS } from "../harness.ts";
import { ITEMS } from "../items.ts";
import type { NotificationRow, Vocabulary } from "../wire/vocabulary.ts";
import { declarationsOf } from "./declarations.ts";
import { DocumentWriter, type ItemRow, type SchemaDocument, typeNames } from "./document.ts";

export { inlineType } from "./declarations.ts";
export type {
  ItemSchema,
  NotificationSchema,
  RequestSchema,
  SchemaDocument,
} from "./document.ts";
export {
  alternativesOf,
  harnessDataName,
  itemTypeName,
  type JsonSchema,
  referredName,
  type SchemaPart,
} from "./document.ts";

/** The wires that have a schema. */
export type WireName = "flint" | "harness";

/** The JSON Schema documents of all wires. Made anew on every call, always the same. */
export function jsonSchemas(): Record<WireName, SchemaDocument> {
  return { flint: flintDocument(), harness: harnessDocument() };
}

/** A wire as TypeScript declarations, for people who write clients. */
export function typeScriptDeclarations(wire: WireName = "flint"): string {
  return declarationsOf(wire === "flint" ? flintDocument() : harnessDocument());
}

function flintDocument(): SchemaDocument {
  const wire: Vocabulary = { ...FLINT, serverNotifications: withPlaces(FLINT.serverNotifications) };
  return new DocumentWriter(typeNames()).write(wire, ITEMS);
}

function harnessDocument(): SchemaDocument {
  const items = Object.entries(HARNESS_ITEMS).map(([type, { doc, data }]): [string, ItemRow] => [
    type,
    { doc, schema: data },
  ]);
  return new DocumentWriter(typeNames()).write(HARNESS, Object.fromEntries(items));
}

type Notifications = Readonly<Record<string, NotificationRow>>;

/** Where a stored event stands in its log travels with it, beside what it carries. */
const place = { seq: z.optional(z.int().check(z.minimum(1))), at: z.optional(z.int()) };

function withPlaces(notifications: Notifications): Notifications {
  const rows = Object.entries(notifications).map(([name, row]): [string, NotificationRow] => {
    const stored = isEventType(name) && EVENTS[name].kept !== "live";
    if (!stored || !(row.params instanceof z.ZodMiniObject)) return [name, row];
    return [name, { doc: row.doc, params: z.extend(row.params, place) }];
  });
  return Object.fromEntries(rows);
}
