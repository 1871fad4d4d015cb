import { describe, expect, test } from "vitest";
import {
  anyOf,
  formatValue,
  mismatch,
  NON_EMPTY_ARRAY,
  NULLISH,
  NUMBER,
  STRING,
  stringAt,
  UUID,
} from "./pattern.ts";

describe("a pattern", () => {
  test("matches objects with additional fields", () => {
    const value = {
      id: "01a1e317-0f77-7510-87b7-f42c6095d74e",
      turns: [{ status: "done", more: 1 }],
      extra: 7,
    };
    expect(mismatch(value, { id: UUID, turns: [{ status: "done" }] })).toBeUndefined();
    expect(mismatch("thread not found: x", /^thread not found/)).toBeUndefined();
    expect(mismatch(undefined, NULLISH)).toBeUndefined();
    expect(mismatch(null, anyOf(NUMBER, null))).toBeUndefined();
  });

  test("reports where a value does not fit, what was expected and what was found", () => {
    expect(mismatch({ a: { b: [1, "x"] } }, { a: { b: [1, NUMBER] } })).toBe(
      '.a.b[1] should be a number, but is "x"',
    );
    expect(mismatch({}, { a: STRING })).toBe(".a should be a text, but is absent");
    expect(mismatch([], NON_EMPTY_ARRAY)).toBe(" should be a list that is not empty, but is []");
    expect(mismatch([1], [1, 2])).toBe(" should be [1, 2], but is [1]");
    expect(mismatch("x", { a: 1 })).toBe(' should be an object, but is "x"');
    expect(mismatch("nope", UUID)).toBe(' should be a UUID, but is "nope"');
    expect(mismatch(3, anyOf("a", NUMBER))).toBeUndefined();
    expect(mismatch("b", anyOf("a", NUMBER))).toBe(' should be "a" or a number, but is "b"');
  });

  test("fails a check that reads a missing value, and names the path", () => {
    expect(() => stringAt({ turn: {} }, "turn", "id")).toThrow("turn.id should be a text, but is absent");
    expect(formatValue("x".repeat(400))).toMatch(/… \(402 characters\)$/);
  });
});
