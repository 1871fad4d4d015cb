import {
  CODEX_CLIENT_REQUESTS,
  CODEX_EXPERIMENTAL_FIELDS,
  CODEX_EXPERIMENTAL_REQUESTS,
} from "@flint/protocol/codex";
import { describe, expect, test } from "vitest";
import { inbound } from "./inbound.ts";
import { type Issue, problemText, unknownVariant } from "./serde-text.ts";
import { type Hello, understand } from "./understanding.ts";

const HELLO: Hello = { name: "probe", version: "1", experimentalApi: true, unwanted: new Set() };
const THREAD = "0190a000-0000-7000-8000-000000000001";

describe("a request of the Codex door", () => {
  test("each has a handler, and what is experimental is one of them", () => {
    expect(Object.keys(inbound).sort()).toEqual(Object.keys(CODEX_CLIENT_REQUESTS).sort());
    const experimental = [...CODEX_EXPERIMENTAL_REQUESTS, ...Object.keys(CODEX_EXPERIMENTAL_FIELDS)];
    expect(experimental.filter((name) => !Object.hasOwn(CODEX_CLIENT_REQUESTS, name))).toEqual([]);
  });

  test("unknown fields pass, and null says nothing", () => {
    const params = { threadId: THREAD, model: null, somethingNew: { a: 1 } };
    expect(understand("thread/resume", params, HELLO)).toEqual({ method: "thread/resume", params });
  });

  test("names from the prototype are no requests", () => {
    expect(() => understand("toString", {}, HELLO)).toThrow("unknown variant `toString`");
    expect(() => understand("x".repeat(500), {}, HELLO)).toThrow(`\`${"x".repeat(100)}…\``);
  });

  test.each([
    ["", "invalid length: expected length 32 for simple format, found 0"],
    ["0190a000-0000", "invalid group count: expected 5, found 2"],
    ["0190a00-0000-7000-8000-000000000001", "invalid group length in group 0: expected 8, found 7"],
    ["héllo", "found `h` at 1"],
  ])("a thread id like %j is refused by its form", (threadId, problem) => {
    expect(() => understand("thread/read", { threadId }, HELLO)).toThrow(problem);
  });

  test("without params it is refused, unless Codex takes it so; a list is none", () => {
    expect(() => understand("thread/start", undefined, HELLO)).toThrow("missing field `params`");
    expect(() => understand("thread/start", [], HELLO)).toThrow(
      "invalid length 0, expected struct ThreadStartParams",
    );
    expect(understand("configRequirements/read", undefined, HELLO).params).toEqual({});
  });
});

describe("what is wrong", () => {
  const issue = (more: Partial<Issue>): Issue => ({ path: ["a"], message: "wrong", ...more });

  test.each([
    ["missing field `a`", issue({ code: "invalid_type" }), {}],
    [
      "invalid type: null, expected a string",
      issue({ code: "invalid_type", expected: "string" }),
      { a: null },
    ],
    [
      "invalid type: floating point `1.5`, expected u32",
      issue({ code: "invalid_type", expected: "int" }),
      { a: 1.5 },
    ],
    [
      "invalid type: boolean `true`, expected a map",
      issue({ code: "invalid_type", expected: "object" }),
      { a: true },
    ],
    [
      "invalid type: sequence, expected a map",
      issue({ code: "invalid_type", expected: "object" }),
      { a: [] },
    ],
    ["invalid type: map, expected a sequence", issue({ code: "invalid_type", expected: "array" }), { a: {} }],
    ["unknown variant `x`, expected `y`", issue({ code: "invalid_value", values: ["y"] }), { a: "x" }],
    ["wrong", issue({ code: "invalid_value", values: ["y"] }), { a: 1 }],
    ["wrong", issue({ code: "custom" }), { a: 1 }],
  ])("is said as %j", (text, problem, params) => {
    expect(problemText(problem, params)).toBe(text);
  });

  test("of two names both are named", () => {
    expect(unknownVariant("x", ["a", "b"])).toBe("unknown variant `x`, expected `a` or `b`");
  });
});
