import { expect, test } from "vitest";
import { checkAnswer, schemaFault } from "./schema.ts";

const schema = {
  type: "object",
  required: ["name"],
  additionalProperties: false,
  properties: {
    name: { type: "string" },
    kind: { enum: ["a", "b"] },
    version: { const: 1 },
    count: { type: ["integer", "null"] },
    list: { type: "array", items: { $ref: "#/$defs/entry" } },
    either: { anyOf: [{ type: "string" }, { type: "number" }] },
  },
  $defs: { entry: { type: "object", required: ["id"] } },
} as const;

test.each([
  ['{"name":"x"}', undefined],
  ['```json\n{"name":"x"}\n```', undefined],
  ['{"name":"x","count":null,"list":[{"id":1}],"either":2,"kind":"b","version":1}', undefined],
  ["sure, here it is", "the answer is not JSON"],
  ["[]", "the answer is not of type object"],
  ["{}", 'the answer has no "name"'],
  ['{"name":1}', "the answer.name is not of type string"],
  ['{"name":"x","more":1}', "the answer.more is not allowed"],
  ['{"name":"x","count":1.5}', "the answer.count is not of type integer or null"],
  ['{"name":"x","kind":"c"}', "the answer.kind is not one of the allowed values"],
  ['{"name":"x","version":2}', "the answer.version is not 1"],
  ['{"name":"x","list":[{"id":1},{}]}', 'the answer.list[1] has no "id"'],
  ['{"name":"x","either":true}', "the answer.either matches none of the alternatives"],
])("rejects the answer %j: %s", (text, problem) => {
  const checked = checkAnswer(text, schema);
  expect(checked.ok ? undefined : checked.problem).toBe(problem);
});

test("terminates on a schema that refers to itself", () => {
  expect(checkAnswer("1", { $ref: "#" }).ok).toBe(true);
});

test.each([
  [{}],
  [{ type: ["string", "null"], enum: ["a", null] }],
  [{ type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { type: "integer" } } }],
  [{ type: "array", items: { type: "number" }, additionalProperties: false }],
])("accepts the schema %j", (schema) => {
  expect(schemaFault(schema)).toBeUndefined();
});

test.each([
  [{ type: "text" }, '#/type is "text"'],
  [{ type: ["string", "nil"] }, '#/type is "nil"'],
  [{ properties: { a: { type: "objekt" } } }, '#/properties/a/type is "objekt"'],
  [{ items: { anyOf: [{ type: "string" }, { type: "int" }] } }, '#/items/anyOf/1/type is "int"'],
  [{ properties: { a: 5 } }, "#/properties/a must be"],
  [{ required: "a" }, "#/required is not a list"],
  [{ enum: "a" }, "#/enum is not a list"],
])("rejects the schema %j with its location", (schema, fault) => {
  expect(schemaFault(schema)).toContain(fault);
});
