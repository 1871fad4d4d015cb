import { parseSync } from "rolldown/utils";
import { describe, expect, test } from "vitest";
import { ERROR_KINDS } from "../wire/errors.ts";
import { declarationsOf, inlineType } from "./declarations.ts";
import type { JsonSchema, SchemaDocument } from "./document.ts";
import { typeScriptDeclarations } from "./index.ts";

const name: JsonSchema = { type: "string" };
const small: SchemaDocument = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "small",
  requests: {
    greet: {
      doc: "Greet the server.",
      params: { type: "object", properties: { name }, required: ["name"] },
      result: {},
    },
    "time/read": { doc: "The time.", params: { $ref: "#/$defs/Nothing" }, result: { type: "integer" } },
  },
  notifications: {},
  serverRequests: {},
  serverNotifications: { "greeted/twice": { doc: "Again.", params: { $ref: "#/$defs/Person" } } },
  itemTypes: {},
  errors: {
    ...Object.fromEntries(Object.keys(ERROR_KINDS).map((kind) => [kind, { code: 1, doc: "" }])),
  } as never,
  $defs: {
    Nothing: { type: "object", properties: {} },
    Person: {
      description: "A user.",
      type: "object",
      properties: { name, "full-name": name, address: { type: "object", properties: { town: name } } },
      required: ["name"],
    },
    Word: { enum: ["a", "b"] },
    LongWord: { enum: ["a".repeat(60), "b".repeat(60)] },
  },
};

const EXPECTED = `// The small protocol. Every object may carry more fields than are declared here.

export interface Nothing {
}

/** A user. */
export interface Person {
  name: string;
  "full-name"?: string;
  address?: {
    town?: string;
  };
}

export type Word = "a" | "b";

export type LongWord =
  | "${"a".repeat(60)}"
  | "${"b".repeat(60)}";

/** The requests of clients, by method. */
export interface Methods {
  /** Greet the server. */
  greet: {
    params: {
      name: string;
    };
    result: unknown;
  };
  /** The time. */
  "time/read": {
    params: Nothing;
    result: number;
  };
}

/** The notifications of clients. */
export interface ClientNotifications {}

/** The notifications of the server, by method. */
export interface Notifications {
  /** Again. */
  "greeted/twice": Person;
}

/** The requests of the server to its clients. */
export interface ServerRequests {}

/** Why a request failed: \`data.reason\` of its error. */
export type ErrorKind =
${Object.keys(ERROR_KINDS)
  .map((kind) => `  | "${kind}"`)
  .join("\n")};
`;

describe("a document as TypeScript", () => {
  test("is formatted like a handwritten file", () => {
    expect(declarationsOf(small)).toBe(EXPECTED);
  });

  test.each(["flint", "harness"] as const)("is valid and the same every time: %s", (wire) => {
    const declarations = typeScriptDeclarations(wire);
    expect(parseSync("declarations.ts", declarations).errors).toEqual([]);
    expect(typeScriptDeclarations(wire)).toBe(declarations);
  });

  test("declares the Flint protocol by default", () => {
    expect(typeScriptDeclarations()).toBe(typeScriptDeclarations("flint"));
    expect(typeScriptDeclarations()).toContain("export interface Turn {\n  id: Id;\n  status: TurnStatus;\n");
  });
});

describe("a schema as a type", () => {
  test.each<[JsonSchema | boolean, string]>([
    [true, "unknown"],
    [false, "never"],
    [{}, "unknown"],
    [{ type: "string", pattern: "^x" }, "string"],
    [{ type: "integer", minimum: 1 }, "number"],
    [{ type: "boolean" }, "boolean"],
    [{ type: "null" }, "null"],
    [{ const: "text" }, '"text"'],
    [{ const: true }, "true"],
    [{ enum: ["a", "b", 1] }, '"a" | "b" | 1'],
    [{ $ref: "#/$defs/Turn" }, "Turn"],
    [{ anyOf: [{ $ref: "#/$defs/Turn" }, { type: "null" }] }, "Turn | null"],
    [{ anyOf: [{ type: "number" }, { type: "integer" }] }, "number"],
    [{ type: "array" }, "unknown[]"],
    [{ type: "array", items: { $ref: "#/$defs/Turn" } }, "Turn[]"],
    [{ type: "array", items: { enum: ["a", "b"] } }, '("a" | "b")[]'],
    [
      { type: "array", items: { oneOf: [{ type: "object", properties: {} }, { type: "null" }] } },
      "({} | null)[]",
    ],
    [{ type: "object", additionalProperties: {} }, "Record<string, unknown>"],
    [{ type: "object", additionalProperties: { type: "string" } }, "Record<string, string>"],
    [{ type: "object", properties: { a: name, b: name }, required: ["a"] }, "{ a: string; b?: string }"],
  ])("%j is %s", (schema, type) => {
    expect(inlineType(schema)).toBe(type);
  });
});
