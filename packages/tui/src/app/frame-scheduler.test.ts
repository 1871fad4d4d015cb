import { TestClock } from "@flint/testkit";
import { expect, test } from "vitest";
import { FrameScheduler } from "./frame-scheduler.ts";

test("a stream of changes reads the clock a few times a frame, and is drawn with each", async () => {
  const clock = new TestClock();
  let reads = 0;
  let frames = 0;
  const monotonic = () => {
    reads += 1;
    return clock.monotonic();
  };
  const after = clock.after.bind(clock);
  const scheduler = new FrameScheduler({ monotonic, after }, () => {
    frames += 1;
  });
  for (let piece = 0; piece < 500; piece += 1) {
    scheduler.soon();
    await clock.advance(2);
  }
  expect(frames).toBeGreaterThanOrEqual(15);
  expect(frames).toBeLessThanOrEqual(16);
  expect(reads).toBeLessThanOrEqual(4 * frames);
});
