import { expect, test } from "vitest";
import { Reply } from "./reply.ts";

test("an answer that cannot be given is an error afterwards, not in between", () => {
  const reply = new Reply<string>(() => {
    throw new Error("gone");
  });
  reply.give("hello");
  expect(() => reply.rethrow()).toThrow("gone");
});

test("an answer that was given is no error", () => {
  const given: string[] = [];
  const reply = new Reply<string>((value) => given.push(value));
  reply.give("hello");
  reply.rethrow();
  expect(given).toEqual(["hello"]);
});
