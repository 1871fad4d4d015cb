import { expect, test } from "vitest";
import { array, boolean, choice, integer, object, optional, string } from "./input.ts";

const SHAPE = object({
  name: string("A name.", { maxLength: 5 }),
  note: optional(string("A note.", { mayBeEmpty: true })),
  count: optional(integer("How many.", 1, 9)),
  sure: optional(boolean("Whether.")),
  steps: array("Steps.", object({ kind: choice("Which.", ["a", "b"]) }), 2),
});

const refusal = (value: unknown): string => {
  try {
    SHAPE.read(value, "");
    return "fits";
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : "?";
  }
};

test("has a schema that matches the validation", () => {
  expect(SHAPE.schema).toEqual({
    type: "object",
    properties: {
      name: { type: "string", description: "A name.", minLength: 1 },
      note: { type: "string", description: "A note." },
      count: { type: "integer", description: "How many.", minimum: 1, maximum: 9 },
      sure: { type: "boolean", description: "Whether." },
      steps: {
        type: "array",
        description: "Steps.",
        maxItems: 2,
        items: {
          type: "object",
          properties: { kind: { type: "string", description: "Which.", enum: ["a", "b"] } },
          required: ["kind"],
          additionalProperties: false,
        },
      },
    },
    required: ["name", "steps"],
    additionalProperties: false,
  });
});

test("reads valid input, and treats null as left out", () => {
  const read = SHAPE.read({ name: "x", note: null, count: 3, steps: [{ kind: "b" }] }, "");
  expect(read).toEqual({ name: "x", note: undefined, count: 3, sure: undefined, steps: [{ kind: "b" }] });
});

test("names what is invalid", () => {
  const fine = { name: "x", steps: [] };
  expect(refusal(null)).toBe("The input must be an object.");
  expect(refusal([])).toBe("The input must be an object.");
  expect(refusal({ steps: [] })).toBe("name is missing.");
  expect(refusal({ ...fine, name: "" })).toBe("name must not be empty.");
  expect(refusal({ ...fine, name: "longer" })).toBe("name is longer than 5 characters.");
  expect(refusal({ ...fine, count: 1.5 })).toBe("count must be a whole number from 1 to 9.");
  expect(refusal({ ...fine, count: Number.NaN })).toBe("count must be a whole number from 1 to 9.");
  expect(refusal({ ...fine, sure: "yes" })).toBe("sure must be true or false.");
  expect(refusal({ ...fine, steps: {} })).toBe("steps must be an array.");
  expect(refusal({ ...fine, steps: [{ kind: "a" }, { kind: "c" }] })).toBe(
    "steps[1].kind must be one of a, b.",
  );
  expect(refusal({ ...fine, steps: [1] })).toBe("steps[0] must be an object.");
  expect(refusal({ ...fine, steps: [{}, {}, {}] })).toBe("steps has more than 2 entries.");
  expect(refusal({ ...fine, other: 1 })).toMatch(/^other is not a known field; expected name,/);
});

test("treats keys of prototypes as unknown fields", () => {
  expect(refusal(JSON.parse('{"name":"x","steps":[],"__proto__":{"count":1}}'))).toMatch(
    /^__proto__ is not a known field/,
  );
  expect(refusal(JSON.parse('{"constructor":{},"name":"x","steps":[]}'))).toMatch(
    /^constructor is not a known field/,
  );
  expect(refusal(Object.create({ name: "x", steps: [] }))).toBe("name is missing.");
});
