import { Gate, settled, TestClock } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { ConcurrencyLimit, KeepAlive, SerialQueue, waitAtMost } from "./async.ts";

test("runs one task at a time, in the order in which they were added", async () => {
  const queue = new SerialQueue();
  const gate = new Gate();
  const done: string[] = [];
  const first = queue.run(async () => {
    await gate.wait();
    done.push("first");
  });
  const second = queue.run(async () => done.push("second"));
  await settled();
  expect([done, queue.busy]).toEqual([[], true]);
  gate.open();
  await Promise.all([first, second]);
  expect([done, queue.busy]).toEqual([["first", "second"], false]);
});

test("reports a failure to its caller only, and runs the next task", async () => {
  const queue = new SerialQueue();
  const failing = queue.run(async () => {
    throw new Error("mine");
  });
  const next = queue.run(async () => "fine");
  await expect(failing).rejects.toThrow("mine");
  expect(await next).toBe("fine");
});

describe("waitAtMost", () => {
  test("stops waiting at the limit when the work never settles", async () => {
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

  test("resolves when the work resolves or rejects, and leaves no timer behind", async () => {
    const clock = new TestClock();
    await waitAtMost(clock, 1_000, Promise.resolve());
    await waitAtMost(clock, 1_000, Promise.reject(new Error("reported elsewhere")));
    await settled();
    expect(clock.pending).toBe(0);
  });
});

describe("KeepAlive", () => {
  test("is released at once when nothing was acquired", async () => {
    await new KeepAlive().released();
  });

  test("is released with the last one, including those acquired while waiting", async () => {
    const keepAlive = new KeepAlive();
    const first = keepAlive.acquire();
    let isReleased = false;
    const released = keepAlive.released().then(() => {
      isReleased = true;
    });
    const second = keepAlive.acquire();
    first();
    await settled();
    expect(isReleased).toBe(false);
    second();
    second();
    await released;
  });
});

test("runs only so many at a time, and the others in the order in which they came", async () => {
  const limit = new ConcurrencyLimit(2);
  const gates = [new Gate(), new Gate(), new Gate(), new Gate()];
  const started: number[] = [];
  const works = gates.map((gate, at) =>
    limit.run(async () => {
      started.push(at);
      await gate.wait();
      if (at === 1) throw new Error("mine");
      return at;
    }),
  );
  await settled();
  expect(started).toEqual([0, 1]);
  gates[1]?.open();
  await expect(works[1]).rejects.toThrow("mine");
  await settled();
  expect(started).toEqual([0, 1, 2]);
  for (const gate of gates) gate.open();
  expect(await Promise.all([works[0], works[2], works[3]])).toEqual([0, 2, 3]);
});
