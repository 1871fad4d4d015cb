import { expect, test } from "vitest";
import { readExecOptions } from "./options.ts";

test("without options a new thread is shown as a turn", () => {
  expect(readExecOptions({})).toEqual({
    thread: undefined,
    shownAs: "turn",
    ephemeral: false,
    images: [],
    schemaFile: undefined,
    limits: undefined,
    server: { model: undefined },
  });
});

test("options say which thread, which model, what is shown and what may be used", () => {
  const values = { resume: "abc", quiet: true, offline: true, "max-tokens": "100", "max-cost": "0.5" };
  expect(readExecOptions(values)).toMatchObject({
    thread: { reference: "abc" },
    shownAs: "answer",
    limits: { tokens: 100, costUsd: 0.5 },
    server: { offline: true },
  });
  const others = { continue: true, json: true, "max-time": "1.5", "max-steps": "3" };
  expect(readExecOptions(others)).toMatchObject({
    thread: "newest",
    shownAs: "json",
    limits: { seconds: 1.5, steps: 3 },
  });
});

test.each([
  [{ resume: "a", continue: true }, "--resume and --continue exclude each other"],
  [{ json: true, quiet: true }, "--json and --quiet exclude each other"],
  [{ offline: true, model: "m" }, "--offline and --model exclude each other"],
  [{ ephemeral: true, continue: true }, "--ephemeral and --continue exclude each other"],
  [{ resume: "" }, "--resume needs a thread"],
  [{ "max-tokens": "1.5" }, '--max-tokens takes a whole number; not "1.5"'],
  [{ "max-steps": "0" }, '--max-steps takes a number above 0; not "0"'],
  [{ "max-cost": "free" }, '--max-cost takes a number above 0; not "free"'],
  [{ "max-time": "" }, '--max-time takes a number above 0; not ""'],
])("%j is refused: %s", (values, message) => {
  expect(() => readExecOptions(values)).toThrow(message);
});
