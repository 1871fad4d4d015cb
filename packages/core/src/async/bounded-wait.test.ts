import { settled, TestClock } from "@flint/testkit";
import { expect, test } from "vitest";
import { waitAtMost } from "./bounded-wait.ts";

test("work that never ends is not waited for longer than the limit", async () => {
  const clock = new TestClock();
  let isOver = false;
  const waiting = waitAtMost(clock, 1_000, new Promise(() => undefined)).then(() => {
    isOver = true;
  });
  await clock.advance(999);
  expect(isOver).toBe(false);
  await clock.advance(1);
  await waiting;
});

test("the wait ends with the work, well or badly, and leaves no timer behind", async () => {
  const clock = new TestClock();
  await waitAtMost(clock, 1_000, Promise.resolve());
  await waitAtMost(clock, 1_000, Promise.reject(new Error("not ours to tell")));
  await settled();
  expect(clock.pending).toBe(0);
});
