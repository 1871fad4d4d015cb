import * as z from "zod/mini";
import { HARNESS_ITEMS } from "../harness.ts";
import * as protocol from "../index.ts";
import { ExtensionItem, ITEMS } from "../items.ts";
import { ERROR_KINDS, type ErrorKind } from "../wire/errors.ts";
import type { NotificationRow, RequestRow, Vocabulary } from "../wire/vocabulary.ts";

/** A JSON Schema of draft 2020-12, as zod writes it. */
export type JsonSchema = z.core.JSONSchema.JSONSchema;

/** A part of a schema; `true` and `false` stand for anything and nothing. */
export type SchemaPart = JsonSchema | boolean;

const DEFINITIONS = "#/$defs/";

/** The definition that a schema refers to, or undefined if it is not just a reference. */
export function referredName(schema: JsonSchema): string | undefined {
  return schema.$ref?.startsWith(DEFINITIONS) ? schema.$ref.slice(DEFINITIONS.length) : undefined;
}

/** The alternatives of a union, or undefined if the schema is not one. */
export function alternativesOf(schema: JsonSchema): readonly SchemaPart[] | undefined {
  return schema.oneOf ?? schema.anyOf;
}

/** The JSON Schema of any type of a vocabulary, for code that generates or validates values. */
export function jsonSchemaOf(type: z.ZodMiniType, side: "input" | "output"): JsonSchema {
  return z.toJSONSchema(type, { io: side, unrepresentable: "any" });
}

/** The name and description of a type. */
export interface TypeName {
  readonly id: string;
  readonly description?: string;
  readonly [key: string]: unknown;
}

/** The names of types. Separate from the types themselves, so that they cost nothing at run time. */
export type TypeNames = z.core.$ZodRegistry<TypeName>;

/** A name for every exported schema, every item type and the data of every harness item type. */
export function typeNames(): TypeNames {
  const names = z.registry<TypeName>();
  for (const [id, exported] of Object.entries(protocol)) {
    if (exported instanceof z.ZodMiniType) names.add(exported, { id });
  }
  for (const [type, { schema, doc }] of Object.entries(ITEMS)) {
    names.add(schema, { id: itemTypeName(type), description: doc });
  }
  for (const [type, { data, doc }] of Object.entries(HARNESS_ITEMS)) {
    names.add(data, { id: harnessDataName(type), description: doc });
  }
  return names;
}

/** The name of an item type: `agentMessage` is an `AgentMessageItem`. */
export function itemTypeName(type: string): string {
  return `${capitalized(type)}Item`;
}

/** The name of the data of a harness item type: that of a `tool_log` is `HarnessToolLogData`. */
export function harnessDataName(type: string): string {
  return `Harness${type.split("_").map(capitalized).join("")}Data`;
}

function capitalized(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

/** A request in a schema document. */
export interface RequestSchema {
  readonly doc: string;
  readonly params: JsonSchema;
  readonly result: JsonSchema;
}

/** A notification in a schema document. */
export interface NotificationSchema {
  readonly doc: string;
  readonly params: JsonSchema;
}

/** An item type in a schema document. */
export interface ItemSchema {
  readonly doc: string;
  readonly schema: JsonSchema;
}

/** Everything that is defined for one wire. It is itself a JSON Schema: named types are in `$defs`. */
export interface SchemaDocument {
  readonly $schema: string;
  readonly title: string;
  readonly requests: Readonly<Record<string, RequestSchema>>;
  readonly notifications: Readonly<Record<string, NotificationSchema>>;
  readonly serverRequests: Readonly<Record<string, RequestSchema>>;
  readonly serverNotifications: Readonly<Record<string, NotificationSchema>>;
  readonly itemTypes: Readonly<Record<string, ItemSchema>>;
  readonly errors: Readonly<Record<ErrorKind, { readonly code: number; readonly doc: string }>>;
  readonly $defs: Readonly<Record<string, JsonSchema>>;
}

/** An item type of a wire and what it is for. */
export interface ItemRow {
  readonly doc: string;
  readonly schema: z.ZodMiniType;
}

const DRAFT = "https://json-schema.org/draft/2020-12/schema";

/** Builds the document of a wire from its tables. The same tables always give the same text. */
export class DocumentWriter {
  readonly #names: TypeNames;
  readonly #definitions = new Map<string, JsonSchema>();

  constructor(names: TypeNames) {
    this.#names = names;
  }

  /** The document of a vocabulary and its item types. To be called once. */
  write(vocabulary: Vocabulary, items: Readonly<Record<string, ItemRow>>): SchemaDocument {
    const request = ({ doc, params, result }: RequestRow): RequestSchema => ({
      doc,
      params: this.#schema(params),
      result: this.#schema(result),
    });
    const notification = ({ doc, params }: NotificationRow) => ({ doc, params: this.#schema(params) });
    const document = {
      $schema: DRAFT,
      title: vocabulary.name,
      requests: mapped(vocabulary.requests, request),
      notifications: mapped(vocabulary.notifications, notification),
      serverRequests: mapped(vocabulary.serverRequests, request),
      serverNotifications: mapped(vocabulary.serverNotifications, notification),
      itemTypes: mapped(items, ({ doc, schema }) => ({ doc, schema: this.#schema(schema) })),
      errors: mapped(ERROR_KINDS, (doc, kind) => ({ code: vocabulary.errorCodes[kind], doc })),
    };
    return { ...document, $defs: Object.fromEntries([...this.#definitions].sort(byName)) };
  }

  /** Schema of a message as it may be sent: either side may leave out a field with a default. */
  #schema(type: z.ZodMiniType): JsonSchema {
    const {
      $schema: _draft,
      $defs = {},
      ...schema
    } = z.toJSONSchema(type, {
      metadata: this.#names,
      io: "input",
      unrepresentable: "any",
      override: ({ zodSchema, jsonSchema }) => correct(zodSchema, jsonSchema),
    });
    for (const [name, definition] of Object.entries($defs)) this.#definitions.set(name, definition);
    return schema;
  }
}

/** Corrects what zod writes in its own way, or cannot write. */
function correct(zodSchema: z.core.$ZodType, jsonSchema: z.core.JSONSchema.BaseSchema): void {
  // Not a format of JSON Schema; the pattern beside it means the same.
  if (jsonSchema.format === "starts_with") delete jsonSchema.format;
  // A refinement is a function; this one rejects a known item with a wrong shape as an unknown one.
  if (zodSchema === ExtensionItem.shape.type) jsonSchema.not = { enum: Object.keys(ITEMS) };
}

function mapped<Name extends string, From, To>(
  rows: Readonly<Record<Name, From>>,
  change: (row: From, name: Name) => To,
): Record<Name, To> {
  // Object.keys loses the type of the names.
  const names = Object.keys(rows) as Name[];
  const entries = names.map((name) => [name, change(rows[name], name)] as const);
  // As above: every name has its value.
  return Object.fromEntries(entries) as Record<Name, To>;
}

function byName([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1;
}
