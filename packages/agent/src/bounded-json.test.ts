import fc from "fast-check";
import { expect, test } from "vitest";
import { boundedJson, fits, wellFormedObject } from "./bounded-json.ts";

test("cuts a value that is too large or too deep, and marks it", () => {
  expect(boundedJson({ a: ["b".repeat(100), 1, 2, 3] }, { depth: 9, characters: 20 })).toEqual({
    a: ["bbbbbbbbbbbbbbbb…", "… left out …"],
  });
  expect(boundedJson([[[1]]], { depth: 2, characters: 100 })).toEqual([["… left out …"]]);
});

test("copies a valid value unchanged, except for lone surrogates and __proto__", () => {
  const poisoned = JSON.parse('{"a\\ud800": [1, "b\\udc00", null, true], "__proto__": {"c": 1}}');
  expect(wellFormedObject(poisoned)).toEqual({ "a\ufffd": [1, "b\ufffd", null, true] });
});

test("bounds the copy of any value", () => {
  const bounds = { depth: 4, characters: 200 };
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
      const copy = boundedJson(value, bounds);
      expect(fits(copy, { depth: 5, characters: 2000 })).toBe(true);
      if (fits(value, { depth: 4, characters: 20 }) && !JSON.stringify(value).includes("__proto__")) {
        expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
      }
    }),
  );
});

test("checks a value of a hundred thousand levels", () => {
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  expect(fits(deep, { depth: 64, characters: 1e6 })).toBe(false);
  expect(boundedJson(deep, { depth: 1, characters: 100 })).toEqual(["… left out …"]);
});
