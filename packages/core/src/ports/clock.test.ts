import { TestClock } from "@flint/testkit";
import { expect, test } from "vitest";
import { pause } from "./clock.ts";

test("ends a pause with its time or an abort, and leaves no timer behind", async () => {
  const clock = new TestClock();
  const stop = new AbortController();
  const timed = pause(clock, 1000, stop.signal);
  await clock.advance(1000);
  await timed;
  const stopped = pause(clock, 1000, stop.signal);
  stop.abort();
  await stopped;
  await pause(clock, 1000, stop.signal);
  expect(clock.pending).toBe(0);
});
