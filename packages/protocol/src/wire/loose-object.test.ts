import { describe, expect, test } from "vitest";
import { z } from "zod/mini";
import { Empty, isRecord, looseObject } from "./loose-object.ts";

const Author = looseObject({ name: z.string(), address: z.optional(looseObject({ town: z.string() })) });

describe("an object of the protocol", () => {
  test("passes unknown fields through, at every depth", () => {
    const author = { name: "Ada", born: 1815, address: { town: "London", zip: ["W1"] } };
    expect(Author.parse(author)).toEqual(author);
  });

  test("may have any _meta, at every depth [S0-85]", () => {
    const author = {
      name: "Ada",
      _meta: { name: 5, nested: { deep: [null, { _meta: true }] } },
      address: { town: "London", _meta: {} },
    };
    expect(Author.parse(author)).toEqual(author);
  });

  test("validates known fields and names the wrong one", () => {
    const paths = Author.safeParse({ name: "Ada", address: { town: 7 } }).error?.issues.map(
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
