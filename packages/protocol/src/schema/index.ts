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

/** The JSON Schema documents of all wires. Built on every call, always the same. */
export function jsonSchemas(): Record<WireName, SchemaDocument> {
  return { flint: flintDocument(), harness: harnessDocument() };
}

/** A wire as TypeScript declarations, for authors of clients. */
export function typeScriptDeclarations(wire: WireName = "flint"): string {
  return declarationsOf(wire === "flint" ? flintDocument() : harnessDocument());
}

function flintDocument(): SchemaDocument {
  const wire: Vocabulary = { ...FLINT, serverNotifications: withPositions(FLINT.serverNotifications) };
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

/** A stored event is sent with its position in the log, beside its data. */
const position = { seq: z.optional(z.int().check(z.minimum(1))), at: z.optional(z.int()) };

function withPositions(notifications: Notifications): Notifications {
  const rows = Object.entries(notifications).map(([name, row]): [string, NotificationRow] => {
    const stored = isEventType(name) && EVENTS[name].persistence !== "live";
    if (!stored || !(row.params instanceof z.ZodMiniObject)) return [name, row];
    return [name, { doc: row.doc, params: z.extend(row.params, position) }];
  });
  return Object.fromEntries(rows);
}
