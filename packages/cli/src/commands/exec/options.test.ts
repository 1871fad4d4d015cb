import { expect, test } from "vitest";
import { readExecOptions } from "./options.ts";

test("without options, a new thread is printed as a turn", () => {
  expect(readExecOptions({})).toEqual({
    thread: undefined,
    format: "turn",
    ephemeral: false,
    images: [],
    schemaFile: undefined,
    limits: undefined,
    server: { model: undefined },
  });
});

test("reads the thread, the model, the output format and the limits", () => {
  const values = { resume: "abc", quiet: true, offline: true, "max-tokens": "100", "max-cost": "0.5" };
  expect(readExecOptions(values)).toMatchObject({
    thread: { reference: "abc" },
    format: "answer",
    limits: { tokens: 100, costUsd: 0.5 },
    server: { offline: true },
  });
  const others = { continue: true, json: true, "max-time": "1.5", "max-steps": "3" };
  expect(readExecOptions(others)).toMatchObject({
    thread: "newest",
    format: "json",
    limits: { seconds: 1.5, steps: 3 },
  });
});

test.each([
  [{ resume: "a", continue: true }, "--resume and --continue cannot be used together"],
  [{ json: true, quiet: true }, "--json and --quiet cannot be used together"],
  [{ offline: true, model: "m" }, "--offline and --model cannot be used together"],
  [{ ephemeral: true, continue: true }, "--ephemeral and --continue cannot be used together"],
  [{ resume: "" }, "--resume needs a thread"],
  [{ "max-tokens": "1.5" }, '--max-tokens must be a whole number above 0, not "1.5"'],
  [{ "max-steps": "0" }, '--max-steps must be a whole number above 0, not "0"'],
  [{ "max-cost": "free" }, '--max-cost must be a number above 0, not "free"'],
  [{ "max-time": "" }, '--max-time must be a number above 0, not ""'],
])("rejects %j: %s", (values, message) => {
  expect(() => readExecOptions(values)).toThrow(message);
});
