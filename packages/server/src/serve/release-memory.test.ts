import { setImmediate as nextTurn } from "node:timers/promises";
import { TestClock } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { releaseMemoryOnce } from "./shutdown.ts";

/** Something that nothing refers to; undefined once it was collected. */
function garbage(): WeakRef<object> {
  return new WeakRef({ large: new Array(1000).fill(0) });
}

describe("a server that has started", () => {
  test("collects once what its start has left", async () => {
    const [clock, left] = [new TestClock(), garbage()];
    releaseMemoryOnce(clock, 0);
    await nextTurn();
    expect(left.deref()).toBeDefined();
    // A dereferenced object is kept until the end of this turn of the event loop.
    await nextTurn();
    await clock.advance(12_000);
    expect(left.deref()).toBeUndefined();
    expect(clock.pending).toBe(0);
  });

  test("skips collection if the heap is small", async () => {
    const [clock, left] = [new TestClock(), garbage()];
    releaseMemoryOnce(clock, Number.POSITIVE_INFINITY);
    await nextTurn();
    await clock.advance(12_000);
    expect(left.deref()).toBeDefined();
  });
});
