import { Gate, settled } from "@flint/testkit";
import { expect, test } from "vitest";
import { DeliveryQueue } from "./subscribers.ts";

test("runs a delivery at once when nothing is pending", () => {
  const sent: string[] = [];
  void new DeliveryQueue().add(undefined, () => sent.push("first"));
  expect(sent).toEqual(["first"]);
});

test("holds everything behind a delivery that waits for the disk", async () => {
  const queue = new DeliveryQueue();
  const disk = new Gate();
  const sent: string[] = [];
  const first = queue.add(disk.opened, () => sent.push("first"));
  const second = queue.add(undefined, () => sent.push("second"));
  await settled();
  expect(sent).toEqual([]);
  disk.open();
  await Promise.all([first, second]);
  expect(sent).toEqual(["first", "second"]);
});

test("reports a failed delivery to its caller only and runs the next ones", async () => {
  const queue = new DeliveryQueue();
  const disk = new Gate();
  const sent: string[] = [];
  const failing = queue.add(disk.opened, () => {
    throw new Error("a client broke");
  });
  const next = queue.add(undefined, () => sent.push("next"));
  disk.open();
  await expect(failing).rejects.toThrow("a client broke");
  await next;
  await queue.add(undefined, () => sent.push("later"));
  expect(sent).toEqual(["next", "later"]);
});

test("continues when the disk fails", async () => {
  const queue = new DeliveryQueue();
  const sent: string[] = [];
  await queue.add(Promise.reject(new Error("no disk")), () => sent.push("first"));
  await queue.add(undefined, () => sent.push("second"));
  expect(sent).toEqual(["first", "second"]);
});

test("runs what is added during a delivery after it", async () => {
  const queue = new DeliveryQueue();
  const sent: string[] = [];
  let inner: Promise<void> | undefined;
  await queue.add(undefined, () => {
    inner = queue.add(undefined, () => sent.push("inner"));
    sent.push("outer");
  });
  await inner;
  expect(sent).toEqual(["outer", "inner"]);
});
