import { expect, test } from "vitest";
import { answersOf, isAnswer } from "./questions.ts";

const options = [{ label: "red" }, { label: "green" }, { label: "blue" }];

test.each([
  [{ options }, "2", ["green"]],
  [{ options }, "1 3", ["1 3"]],
  [{ options, multiple: true }, "1, 3 1", ["red", "blue"]],
  [{ options }, "4", ["4"]],
  [{ options }, " pink ", ["pink"]],
  [{}, "2", ["2"]],
  [{ options }, "", []],
  [{ secret: true }, " s3cret ", [" s3cret "]],
  [{ options: [{ label: "Go on" }, { label: "Stop" }] }, "y", ["Go on"]],
  [{ options: [{ label: "Go on" }, { label: "Stop" }] }, "No", ["Stop"]],
  [{ options: [{ label: "Go on" }, { label: "Stop" }] }, "stop", ["Stop"]],
  [{ options }, "y", ["y"]],
])("for %j, reads the line %j as %j", (question, line, answers) => {
  expect(answersOf({ id: "q", question: "Which?", ...question }, line)).toEqual(answers);
});

test("a yes-or-no question takes one of its options only", () => {
  const options = [{ label: "Continue" }, { label: "Stop" }];
  const question = { id: "budget", question: "Continue?", options };
  expect(["Continue", "Stop", "maybe"].map((answer) => isAnswer(question, [answer]))).toEqual([
    true,
    true,
    false,
  ]);
  expect(isAnswer({ id: "q", question: "Which?" }, ["maybe"])).toBe(true);
});
