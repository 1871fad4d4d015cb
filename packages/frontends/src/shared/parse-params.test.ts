import { METHODS, type Method } from "@flint/protocol";
import { expect, test } from "vitest";
import { problemsOf } from "./parse-params.ts";

function wrong(method: Method, params: object): string[] {
  const parsed = METHODS[method].params.safeParse(params);
  return problemsOf(parsed.error?.issues ?? []).map(({ field, text }) => `${field}: ${text}`);
}

test("every wrong field is named with what is wrong", () => {
  expect(wrong("turn/start", { threadId: "../x", input: [] })).toEqual([
    "threadId: must be 1 to 64 letters, digits, '_' or '-'",
    "input: must have at least one part",
  ]);
});

test("of a union, only the branch that the client meant is reported", () => {
  const sandbox = { type: "workspaceWrite", networkAccess: "yes" };
  expect(wrong("thread/start", { sandbox })).toEqual([
    "sandbox.networkAccess: Invalid input: expected boolean, received string",
  ]);
  expect(wrong("thread/start", { sandbox: { type: "none" } })).toEqual([
    "sandbox.type: is not one of the known kinds",
  ]);
});

test("a part of the input of an unknown type is named by its index", () => {
  expect(wrong("turn/start", { threadId: "a", input: [{ type: "smell" }] })).toEqual([
    "input.0.type: is not one of the known kinds",
  ]);
});
