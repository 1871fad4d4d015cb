import type { QueuedInput } from "@flint/protocol";
import { expect, test } from "vitest";
import { dequeue, enqueue, findQueued, reorder, replaceQueued } from "./decisions.ts";

const input = (id: string): QueuedInput => ({
  id,
  input: [{ type: "text", text: id }],
  createdAtMs: 0,
  clientId: "me",
});
const queue = ["a", "b", "c"].map(input);
const ids = (inputs: readonly QueuedInput[]) => inputs.map(({ id }) => id);

test("appends an input, unless a hundred are queued", () => {
  expect(ids(enqueue(queue, input("d")))).toEqual(["a", "b", "c", "d"]);
  const full = Array.from({ length: 100 }, (_, place) => input(`i${place}`));
  expect(() => enqueue(full, input("d"))).toThrow("full (100 inputs)");
});

test("finds, changes and removes an input by its id, and keeps its sender", () => {
  expect(findQueued(queue, "b")).toBe(queue[1]);
  expect(ids(dequeue(queue, "b"))).toEqual(["a", "c"]);
  const changed = replaceQueued(queue, "b", [{ type: "text", text: "other" }]);
  expect(changed[1]).toEqual({ ...input("b"), input: [{ type: "text", text: "other" }] });
  for (const act of [findQueued, dequeue]) expect(() => act(queue, "x")).toThrow("Input x is not queued");
});

test("a new order must name each input once", () => {
  expect(ids(reorder(queue, ["c", "a", "b"]))).toEqual(["c", "a", "b"]);
  for (const wrong of [
    ["a", "b"],
    ["a", "a", "b"],
    ["a", "b", "c", "a"],
  ]) {
    expect(() => reorder(queue, wrong)).toThrow("exactly once");
  }
  expect(() => reorder(queue, ["a", "b", "x"])).toThrow("Input x is not queued");
});
