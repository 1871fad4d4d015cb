import { describe, expect, test } from "vitest";
import { z } from "zod/mini";
import { EVENTS } from "../events.ts";
import { FLINT } from "../flint.ts";
import { HARNESS, HARNESS_ITEMS } from "../harness.ts";
import { ITEMS, ThreadItem } from "../items.ts";
import { METHODS } from "../methods.ts";
import { Turn } from "../thread/thread.ts";
import type { Vocabulary } from "../wire/vocabulary.ts";
import { type JsonSchema, jsonSchemas, type SchemaDocument, type SchemaPart } from "./index.ts";

const { flint, harness } = jsonSchemas();

/** Reports whether a value fits: the keywords that our documents use, and an error for any other. */
function fits(document: SchemaDocument, schema: SchemaPart, value: unknown): boolean {
  if (typeof schema === "boolean") return schema;
  return Object.entries(schema).every(([keyword, rule]) => {
    const check = KEYWORDS[keyword];
    if (check === undefined) throw new Error(`The check does not know the keyword ${keyword}.`);
    // Each keyword says itself what its rule looks like.
    const given = rule as never;
    return check(value, given, (part, inner) => fits(document, part, inner), { document, schema });
  });
}

type Fits = (schema: SchemaPart, value: unknown) => boolean;
type Place = { document: SchemaDocument; schema: JsonSchema };
type Keyword = (value: unknown, rule: never, fits: Fits, place: Place) => boolean;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const typeOf = (value: unknown): string => {
  if (value === null || Array.isArray(value)) return value === null ? "null" : "array";
  return typeof value;
};
const always: Keyword = () => true;

const KEYWORDS: Readonly<Record<string, Keyword>> = {
  description: always,
  default: always,
  propertyNames: always,
  $ref: (value, name: string, check, { document }) =>
    check(document.$defs[name.replace("#/$defs/", "")] ?? false, value),
  type: (value, type: string) => (type === "integer" ? Number.isInteger(value) : typeOf(value) === type),
  const: (value, constant: unknown) => value === constant,
  enum: (value, values: unknown[]) => values.includes(value),
  not: (value, part: SchemaPart, check) => !check(part, value),
  anyOf: (value, parts: SchemaPart[], check) => parts.some((part) => check(part, value)),
  oneOf: (value, parts: SchemaPart[], check) => parts.filter((part) => check(part, value)).length === 1,
  required: (value, names: string[]) => isObject(value) && names.every((name) => value[name] !== undefined),
  properties: (value, fields: Record<string, SchemaPart>, check) =>
    isObject(value) &&
    Object.entries(fields).every(([name, part]) => value[name] === undefined || check(part, value[name])),
  additionalProperties: (value, part: SchemaPart, check, { schema }) =>
    isObject(value) &&
    Object.entries(value).every(
      ([name, inner]) => schema.properties?.[name] !== undefined || check(part, inner),
    ),
  items: (value, part: SchemaPart, check) =>
    Array.isArray(value) && value.every((inner) => check(part, inner)),
  minItems: (value, count: number) => Array.isArray(value) && value.length >= count,
  minimum: (value, least: number) => typeof value === "number" && value >= least,
  maximum: (value, most: number) => typeof value === "number" && value <= most,
  minLength: (value, least: number) => typeof value === "string" && value.length >= least,
  maxLength: (value, most: number) => typeof value === "string" && value.length <= most,
  pattern: (value, pattern: string) => typeof value === "string" && new RegExp(pattern).test(value),
};

function references(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "$ref" && typeof inner === "string" ? [inner] : references(inner),
  );
}

const text = [{ type: "text", text: "Fix it" }];

describe("the schema documents", () => {
  test("are the same every time", () => {
    expect(JSON.stringify(jsonSchemas())).toBe(JSON.stringify({ flint, harness }));
  });

  test.each<[SchemaDocument, Vocabulary, object]>([
    [flint, FLINT, ITEMS],
    [harness, HARNESS, HARNESS_ITEMS],
  ])("contain everything of their vocabulary", (document, vocabulary, items) => {
    const sections = ["requests", "notifications", "serverRequests", "serverNotifications"] as const;
    for (const section of sections) {
      expect(Object.keys(document[section])).toEqual(Object.keys(vocabulary[section]));
    }
    expect(Object.keys(document.itemTypes)).toEqual(Object.keys(items));
    const codes = Object.entries(document.errors).map(([kind, { code }]) => [kind, code]);
    expect(Object.fromEntries(codes)).toEqual(vocabulary.errorCodes);
  });

  test.each([flint, harness])("define exactly what they refer to, in order", (document) => {
    const named = new Set(references(document).map((reference) => reference.replace("#/$defs/", "")));
    expect(Object.keys(document.$defs)).toEqual([...named].sort());
  });

  test("name the types that clients need", () => {
    expect(Object.keys(flint.$defs)).toEqual(
      expect.arrayContaining([
        ...["Turn", "Thread", "ThreadItem", "Approval", "Decision", "UserInput", "SandboxPolicy"],
        ...["AgentMessageItem", "CommandExecutionItem", "FileChangeItem", "UserMessageItem", "ExtensionItem"],
      ]),
    );
    expect(Object.keys(harness.$defs)).toEqual(
      expect.arrayContaining(["HarnessThread", "HarnessTurn", "HarnessItem", "HarnessToolLogData"]),
    );
  });

  test("use only formats of JSON Schema", () => {
    expect(JSON.stringify([flint, harness])).not.toContain('"format"');
  });

  test("are built without changing the tables", () => {
    expect([z.globalRegistry.get(Turn), z.globalRegistry.get(ThreadItem)]).toEqual([undefined, undefined]);
  });
});

describe("the schemas agree with the server's validation", () => {
  test.each<[keyof typeof METHODS, unknown]>([
    ["turn/start", { threadId: "t1", input: text }],
    ["turn/start", { threadId: "t1", input: text, sandboxPolicy: "read-only", _meta: { a: 1 }, newField: 1 }],
    ["turn/start", { threadId: "t1", input: [] }],
    ["turn/start", { threadId: "../x", input: text }],
    ["turn/start", { threadId: "t1", input: text, config: { effort: 1 } }],
    ["turn/start", { threadId: "t1", input: text, cwd: "repo" }],
    ["thread/start", {}],
    ["thread/start", { cwd: "/repo", sandbox: { type: "workspaceWrite", networkAccess: true } }],
    ["thread/start", { sandbox: { type: "workspaceWrite", networkAccess: "enabled" } }],
    ["thread/list", { limit: 200 }],
    ["thread/list", { limit: 201 }],
    ["thread/list", { limit: 1.5 }],
    ["approval/respond", { threadId: "t1", approvalId: "a1", decision: { outcome: "allow" } }],
    ["approval/respond", { threadId: "t1", approvalId: "a1", decision: { outcome: "maybe" } }],
    ["review/start", { threadId: "t1", target: { type: "commit", sha: "abc" } }],
    ["review/start", { threadId: "t1", target: { type: "commit" } }],
    ["thread/archive", "t1"],
  ])("%s with %j", (method, params) => {
    const schema = flint.requests[method]?.params ?? false;
    expect(fits(flint, schema, params)).toBe(METHODS[method].params.safeParse(params).success);
  });

  test.each([
    { type: "agentMessage", id: "i1", text: "Hello" },
    { type: "agentMessage", id: "i1" },
    { type: "commandExecution", id: "i1", command: "ls", cwd: "/", status: "declined" },
    { type: "commandExecution", id: "i1", command: "ls", cwd: "/", status: "gone" },
    { type: "hologram", id: "i1", frames: [] },
    { type: "hologram" },
  ])("the item %j", (item) => {
    expect(fits(flint, { $ref: "#/$defs/ThreadItem" }, item)).toBe(ThreadItem.safeParse(item).success);
  });

  test("an event may have its position in the log", () => {
    const started = { threadId: "t1", turn: { id: "u1", status: "inProgress", items: [] } };
    const schema = flint.serverNotifications["turn/started"]?.params ?? false;
    expect(
      [started, { ...started, seq: 3, at: 1_700_000_000_000 }].map((event) => fits(flint, schema, event)),
    ).toEqual([true, true]);
    expect(fits(flint, schema, { ...started, seq: "3" })).toBe(false);
    expect(EVENTS.warning.persistence).toBe("live");
    expect(flint.serverNotifications.warning?.params.properties).not.toHaveProperty("seq");
  });

  test("a harness request", () => {
    const schema = harness.requests["turn.start"]?.params ?? false;
    expect(fits(harness, schema, { threadId: "t1", input: text })).toBe(true);
    expect(
      fits(harness, schema, { threadId: "t1", input: text, model: { providerID: "a/b", modelID: "m" } }),
    ).toBe(false);
  });
});
