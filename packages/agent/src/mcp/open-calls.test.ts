import type { AskUser } from "@flint/core/elicitation";
import { settled, TestClock } from "@flint/testkit";
import { expect, test } from "vitest";
import { IdleTimeout } from "./idle-timeout.ts";
import { OpenCalls } from "./open-calls.ts";

const PARAMS = { message: "Go on?", requestedSchema: { type: "object" as const, properties: {} } };
const yes: AskUser = async () => ({ answer: { answers: ["Yes"] } });

function deadline(): IdleTimeout {
  return new IdleTimeout(new TestClock(), 100, () => {});
}

test("declines further elicitations after a limit", async () => {
  const calls = new OpenCalls("notes");
  calls.begin(yes, deadline());
  const answers = await Promise.all(Array.from({ length: 12 }, () => calls.answer(PARAMS)));
  expect(answers.map(({ action }) => action)).toEqual([
    ...Array.from({ length: 10 }, () => "accept"),
    ...["decline", "decline"],
  ]);
});

test("asks one question after the other, and declines those that wait when the call ends", async () => {
  const calls = new OpenCalls("notes");
  let asked = 0;
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const leave = calls.begin((questions) => {
    asked += 1;
    return answered.then(() => yes(questions));
  }, deadline());
  const answers = Promise.all([calls.answer(PARAMS), calls.answer(PARAMS)]);
  await settled();
  expect(asked).toBe(1);
  leave();
  answer();
  expect((await answers).map(({ action }) => action)).toEqual(["accept", "decline"]);
  expect(asked).toBe(1);
});
