import { expect, test } from "vitest";
import { schemaFault } from "./schema-fault.ts";

test.each([
  [{}],
  [{ type: ["string", "null"], enum: ["a", null] }],
  [{ type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { type: "integer" } } }],
  [{ type: "array", items: { type: "number" }, additionalProperties: false }],
])("%j is a schema", (schema) => {
  expect(schemaFault(schema)).toBeUndefined();
});

test.each([
  [{ type: "text" }, '#/type is "text"'],
  [{ type: ["string", "nil"] }, '#/type is "nil"'],
  [{ properties: { a: { type: "objekt" } } }, '#/properties/a/type is "objekt"'],
  [{ items: { anyOf: [{ type: "string" }, { type: "int" }] } }, '#/items/anyOf/1/type is "int"'],
  [{ properties: { a: 5 } }, "#/properties/a is neither"],
  [{ required: "a" }, "#/required is not a list"],
  [{ enum: "a" }, "#/enum is not a list"],
])("%j is none, and it is said where", (schema, fault) => {
  expect(schemaFault(schema)).toContain(fault);
});
