import {
  CODEX_CLIENT_REQUESTS,
  CODEX_EXPERIMENTAL_FIELDS,
  CODEX_EXPERIMENTAL_REQUESTS,
} from "@flint/protocol/codex";
import { describe, expect, test } from "vitest";
import { parseRequest, REQUESTS } from "./client-handler.ts";
import type { CodexClientInfo } from "./requests/handler.ts";
import { type Issue, problemText, unknownVariant } from "./wire/errors.ts";
import { parseUuid } from "./wire/values.ts";

const CLIENT: CodexClientInfo = {
  ...{ name: "probe", title: undefined, version: "1", experimentalApi: true, optedOut: new Set() },
};
const THREAD = "0190a000-0000-7000-8000-000000000001";

describe("a request of a Codex client", () => {
  test("has a handler, and each experimental one exists", () => {
    expect(Object.keys(REQUESTS).sort()).toEqual(Object.keys(CODEX_CLIENT_REQUESTS).sort());
    const experimental = [...CODEX_EXPERIMENTAL_REQUESTS, ...Object.keys(CODEX_EXPERIMENTAL_FIELDS)];
    expect(experimental.filter((name) => !Object.hasOwn(CODEX_CLIENT_REQUESTS, name))).toEqual([]);
  });

  test("may have unknown fields, and null means absent", () => {
    const params = { threadId: THREAD, model: null, somethingNew: { a: 1 } };
    expect(parseRequest("thread/resume", params, CLIENT)).toEqual({ method: "thread/resume", params });
  });

  test("with the name of a prototype member is unknown", () => {
    expect(() => parseRequest("toString", {}, CLIENT)).toThrow("unknown variant `toString`");
    expect(() => parseRequest("x".repeat(500), {}, CLIENT)).toThrow(`\`${"x".repeat(99)}…\``);
  });

  test.each([
    ["", "invalid length: expected length 32 for simple format, found 0"],
    ["0190a000-0000", "invalid group count: expected 5, found 2"],
    ["0190a00-0000-7000-8000-000000000001", "invalid group length in group 0: expected 8, found 7"],
    ["héllo", "found `h` at 1"],
  ])("is rejected with a thread id like %j", (threadId, problem) => {
    expect(() => parseRequest("thread/read", { threadId }, CLIENT)).toThrow(problem);
  });

  test("is rejected without params, unless Codex takes it so, and with a list", () => {
    expect(() => parseRequest("thread/start", undefined, CLIENT)).toThrow("missing field `params`");
    expect(() => parseRequest("thread/start", [], CLIENT)).toThrow(
      "invalid length 0, expected struct ThreadStartParams",
    );
    expect(parseRequest("configRequirements/read", undefined, CLIENT).params).toEqual({});
  });
});

describe("a problem", () => {
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
  ])("is reported as %j", (text, problem, params) => {
    expect(problemText(problem, params)).toBe(text);
  });

  test("names both of two variants", () => {
    expect(unknownVariant("x", ["a", "b"])).toBe("unknown variant `x`, expected `a` or `b`");
  });
});

const UUID = "01a1e3d2-dd30-7cb2-8c3e-aadbcf749763";
const DIGITS = UUID.replaceAll("-", "");
const STRANGE =
  "invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found";

describe("a thread id", () => {
  test.each([
    UUID,
    UUID.toUpperCase(),
    DIGITS,
    DIGITS.toUpperCase(),
    `urn:uuid:${UUID}`,
    `urn:uuid:${UUID.toUpperCase()}`,
    `{${UUID}}`,
  ])("%s is accepted in its canonical form", (text) => {
    expect(parseUuid(text)).toEqual({ uuid: UUID });
  });

  // Every answer was taken from the app-server of Codex 0.166.0.
  test.each([
    ["", "invalid length: expected length 32 for simple format, found 0"],
    [`${DIGITS}0`, "invalid length: expected length 32 for simple format, found 33"],
    ["{}", "invalid group count: expected 5, found 1"],
    ["urn:uuid:", "invalid group count: expected 5, found 1"],
    [`urn:uuid:${DIGITS}`, "invalid group count: expected 5, found 1"],
    [`{${DIGITS}}`, "invalid group count: expected 5, found 1"],
    [UUID.replace("-", ""), "invalid group count: expected 5, found 4"],
    [UUID.slice(1), "invalid group length in group 0: expected 8, found 7"],
    [`URN:UUID:${UUID}`, `${STRANGE} \`U\` at 1`],
    [`urn:uuid:{${UUID}}`, `${STRANGE} \`{\` at 10`],
    [`{${UUID}`, `${STRANGE} \`{\` at 1`],
    [`${UUID}}`, `${STRANGE} \`}\` at 37`],
    [` ${UUID}`, `${STRANGE} \` \` at 1`],
    [`../${UUID}`, `${STRANGE} \`.\` at 1`],
    [`${UUID}\0`, `${STRANGE} \`\0\` at 37`],
  ])("rejects %j", (text, problem) => {
    expect(parseUuid(text)).toEqual({ problem });
  });
});
