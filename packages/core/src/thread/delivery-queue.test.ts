import { Gate, settled } from "@flint/testkit";
import { expect, test } from "vitest";
import { DeliveryQueue } from "./delivery-queue.ts";

test("what has nothing to wait for is told at once", () => {
  const told: string[] = [];
  void new DeliveryQueue().add(undefined, () => told.push("first"));
  expect(told).toEqual(["first"]);
});

test("everything behind an entry that waits for the disk waits too", async () => {
  const queue = new DeliveryQueue();
  const disk = new Gate();
  const told: string[] = [];
  const first = queue.add(disk.opened, () => told.push("first"));
  const second = queue.add(undefined, () => told.push("second"));
  await settled();
  expect(told).toEqual([]);
  disk.open();
  await Promise.all([first, second]);
  expect(told).toEqual(["first", "second"]);
});

test("an entry that throws fails for its own caller, and the next ones are told", async () => {
  const queue = new DeliveryQueue();
  const disk = new Gate();
  const told: string[] = [];
  const failing = queue.add(disk.opened, () => {
    throw new Error("a client broke");
  });
  const next = queue.add(undefined, () => told.push("next"));
  disk.open();
  await expect(failing).rejects.toThrow("a client broke");
  await next;
  await queue.add(undefined, () => told.push("later"));
  expect(told).toEqual(["next", "later"]);
});

test("a disk that fails does not stop the telling", async () => {
  const queue = new DeliveryQueue();
  const told: string[] = [];
  await queue.add(Promise.reject(new Error("no disk")), () => told.push("first"));
  await queue.add(undefined, () => told.push("second"));
  expect(told).toEqual(["first", "second"]);
});

test("what is added while something is told comes after it", async () => {
  const queue = new DeliveryQueue();
  const told: string[] = [];
  let inner: Promise<void> | undefined;
  await queue.add(undefined, () => {
    inner = queue.add(undefined, () => told.push("inner"));
    told.push("outer");
  });
  await inner;
  expect(told).toEqual(["outer", "inner"]);
});
