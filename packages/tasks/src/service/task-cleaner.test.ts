import { expect, onTestFinished, test } from "vitest";
import { MemoryStore } from "../store/memory-store.ts";
import { testSpec } from "../testing/spec.ts";
import { TaskCleaner } from "./task-cleaner.ts";

test("keeps the folders of unverified tasks, even with --force, and runs no git", async () => {
  const store = new MemoryStore({ now: Date.now });
  for (const by of ["ann", "mallory"]) {
    const { id, version } = await store.add({ spec: testSpec(), by, waiting: false });
    await store.commit({ task: id, expect: version, events: [{ type: "task/cancelled", data: { by } }] });
  }
  const used: string[] = [];
  const use = (by: string) => {
    used.push(by);
    return true;
  };
  const cleaner = new TaskCleaner({
    ...{ store, now: Date.now, onProblem: use },
    folders: {
      occupied: async () => new Set((await store.list()).map(({ id }) => id)),
      bytes: async ({ addedBy }) => (use(addedBy) ? 10 : 0),
      isCommitted: async ({ addedBy }) => use(addedBy),
      clear: async ({ addedBy }) => void use(addedBy),
      free: async () => ({ folder: "/", bytes: 0 }),
    },
    verify: async ({ addedBy }) => (addedBy === "ann" ? undefined : "The task is not signed."),
  });
  onTestFinished(() => cleaner.stop());
  const { data } = await cleaner.clean({ force: true });
  expect(data.map(({ bytes, kept }) => [bytes, kept])).toEqual([
    [10, undefined],
    [0, "The task is not signed."],
  ]);
  expect(new Set(used)).toEqual(new Set(["ann"]));
});
