import { TestClock } from "@flint/testkit";
import { expect, test } from "vitest";
import { IdleTimeout } from "./idle-timeout.ts";

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
