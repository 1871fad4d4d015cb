import { expect, test } from "vitest";
import { MemoryStore } from "../store/memory-store.ts";
import { testSpec } from "../testing/spec.ts";
import { ASKS } from "../testing/task.ts";
import { resumeAll, suspendAll } from "./bulk-actions.ts";

async function setUp() {
  const store = new MemoryStore({ now: () => 1_800_000_000_000 });
  const add = (after: readonly string[] = []) =>
    store.add({ spec: testSpec({ after: [...after] }), by: "ann", waiting: after.length > 0 });
  const [running, ready, asking, ended] = [await add(), await add(), await add(), await add()];
  const waiting = await add([ready.id]);
  await store.lease(running.id, "w", 30_000);
  await store.commit({ task: asking.id, expect: 1, events: [ASKS] });
  const cancelled = { type: "task/cancelled", data: { by: "ann" } } as const;
  await store.commit({ task: ended.id, expect: 1, events: [cancelled] });
  const phases = async () => (await store.list()).map(({ phase }) => phase);
  return { store, running, ready, asking, waiting, phases };
}

test("all tasks are suspended but those that wait for the user or have ended, and all resumed as they were", async () => {
  const { store, asking, phases } = await setUp();
  const suspended: number[] = [];
  store.subscribe(({ state }) => void suspended.push(state.number));
  const done = await suspendAll({ store }, "ann");
  expect(done.data.map(({ number }) => number)).toEqual([1, 2, 5]);
  const reason = "Task 3 needs an answer: it is already waiting for you.";
  expect(done.skipped).toEqual([{ taskId: asking.id, number: 3, reason }]);
  expect(await phases()).toEqual(["suspended", "suspended", "asking", "cancelled", "suspended"]);
  // The running one comes last: until then, no other could take its place.
  expect(suspended.at(-1)).toBe(1);
  expect((await suspendAll({ store }, "ann")).data).toEqual([]);
  const resumed = await resumeAll({ store }, "ann");
  expect([resumed.data.length, resumed.skipped]).toEqual([3, []]);
  expect(await phases()).toEqual(["ready", "ready", "asking", "cancelled", "waiting"]);
});

test("a task that is not verified is left as it is, and the others are not", async () => {
  const { store, ready } = await setUp();
  const verify = async ({ id }: { readonly id: string }) =>
    id === ready.id ? "It is not signed." : undefined;
  const { data, skipped } = await suspendAll({ store, verify }, "ann");
  expect(data.map(({ number }) => number)).toEqual([1, 5]);
  expect(skipped.map(({ number, reason }) => [number, reason])).toContainEqual([
    2,
    expect.stringContaining("It is not signed."),
  ]);
});
