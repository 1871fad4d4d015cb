import { describe, expect, test } from "vitest";
import { z } from "zod/mini";
import { Empty, isRecord, looseObject } from "./loose-object.ts";

const Person = looseObject({ name: z.string(), address: z.optional(looseObject({ town: z.string() })) });

describe("an object of the protocol", () => {
  test("keeps fields it does not know, at every depth", () => {
    const person = { name: "Ada", born: 1815, address: { town: "London", zip: ["W1"] } };
    expect(Person.parse(person)).toEqual(person);
  });

  test("may carry any _meta, at every depth, and nothing looks into it [S0-85]", () => {
    const person = {
      name: "Ada",
      _meta: { name: 5, nested: { deep: [null, { _meta: true }] } },
      address: { town: "London", _meta: {} },
    };
    expect(Person.parse(person)).toEqual(person);
  });

  test("checks the fields it knows and says which one is wrong", () => {
    const paths = Person.safeParse({ name: "Ada", address: { town: 7 } }).error?.issues.map(
      ({ path }) => path,
    );
    expect(paths).toEqual([["address", "town"]]);
  });

  test.each([null, "text", 5, ["list"]])("%j is not one", (value) => {
    expect(Empty.safeParse(value).success).toBe(false);
  });
});

test("isRecord accepts objects with fields, and neither null nor arrays nor anything else", () => {
  expect([{}, { a: 1 }, Object.create(null), new Date()].map(isRecord)).toEqual([true, true, true, true]);
  expect([null, undefined, [], ["a"], "text", 1, true, () => {}].some(isRecord)).toBe(false);
});
