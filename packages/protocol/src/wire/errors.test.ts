import { describe, expect, test } from "vitest";
import { asFlintError, ERROR_KINDS, FlintError } from "./errors.ts";

describe("an error", () => {
  test("has a stable kind, a message for users, and data for programs", () => {
    const cause = new Error("disk full");
    const error = new FlintError(
      "storageFailed",
      "The log could not be written.",
      { threadId: "t1" },
      { cause },
    );
    const { name, kind, message, data } = error;
    expect({ name, kind, message, data, cause: error.cause }).toEqual({
      name: "FlintError",
      kind: "storageFailed",
      message: "The log could not be written.",
      data: { threadId: "t1" },
      cause,
    });
    expect(error).toBeInstanceOf(Error);
  });

  test("has no data unless it is given some", () => {
    expect(new FlintError("notRunning", "No turn runs.").data).toEqual({});
  });

  test("that is a FlintError stays the same object", () => {
    const error = new FlintError("notRunning", "No turn runs.");
    expect(asFlintError(error)).toBe(error);
  });

  test.each([
    ["an error", new TypeError("x is undefined"), "Flint failed: x is undefined"],
    ["a text", "boom", "Flint failed: boom"],
    ["nothing", undefined, "Flint failed: undefined"],
  ])("that is %s becomes an internalError with the value as its cause", (_name, thrown, message) => {
    const error = asFlintError(thrown);
    expect([error.kind, error.message, error.cause, error.data]).toEqual([
      "internalError",
      message,
      thrown,
      {},
    ]);
  });

  test("has a documented kind", () => {
    const bare = Object.entries(ERROR_KINDS).filter(([, doc]) => !/^[A-Z`].*\.$/.test(doc));
    expect(bare).toEqual([]);
  });
});
