import type { AskUser } from "@flint/core/elicitation";
import { settled, TestClock } from "@flint/testkit";
import { expect, test } from "vitest";
import { IdleTimeout, OpenCalls } from "./open-calls.ts";

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

function start(clock: TestClock): { readonly deadline: IdleTimeout; readonly expired: () => number } {
  let count = 0;
  const deadline = new IdleTimeout(clock, 100, () => {
    count += 1;
  });
  return { deadline, expired: () => count };
}

test("restarts the time on activity", async () => {
  const clock = new TestClock();
  const { deadline, expired } = start(clock);
  await clock.advance(99);
  deadline.restart();
  await clock.advance(99);
  expect(expired()).toBe(0);
  await clock.advance(1);
  expect(expired()).toBe(1);
});

test("pauses while the user is asked", async () => {
  const clock = new TestClock();
  const { deadline, expired } = start(clock);
  await deadline.pauseFor(async () => {
    deadline.restart();
    await clock.advance(1000);
  });
  expect(expired()).toBe(0);
  await clock.advance(100);
  expect(expired()).toBe(1);
});

test("never expires after its end", async () => {
  const clock = new TestClock();
  const { deadline, expired } = start(clock);
  await deadline.pauseFor(async () => deadline.end());
  deadline.restart();
  await clock.advance(1000);
  expect([expired(), clock.pending]).toEqual([0, 0]);
});
