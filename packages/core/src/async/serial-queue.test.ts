import { Gate, settled } from "@flint/testkit";
import { expect, test } from "vitest";
import { SerialQueue } from "./serial-queue.ts";

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
