import type { Store } from "@flint/core/ports";
import { expect } from "vitest";
import { arrange, type MakeStore } from "./store-under-test.ts";
import { kindOfFailure, readAll } from "./written-thread.ts";

const BAD_IDS = [
  "",
  ".",
  "..",
  "../x",
  "/etc",
  "a/b",
  "a\\b",
  "a\0",
  "%2e%2e",
  "x".repeat(65),
  "x".repeat(10_000),
  "é",
];

/** Every way to use a store with a thread that exists already. */
function usesOf(store: Store, threadId: string): (() => Promise<unknown>)[] {
  return [
    () => store.open(threadId),
    () => store.peek(threadId),
    () => store.turns(threadId, { limit: 1, cursor: undefined }),
    () => readAll(store, threadId),
    () => store.remove(threadId),
  ];
}

/** A thread that is not there is named as such. */
export async function checkUnknown(make: MakeStore): Promise<void> {
  const { store } = await arrange(make);
  for (const use of usesOf(store, "nobody")) expect(await kindOfFailure(use())).toBe("threadNotFound");
}

/** Ids that could lead elsewhere are refused. */
export async function checkBadIds(make: MakeStore): Promise<void> {
  const { store } = await arrange(make);
  for (const id of BAD_IDS) {
    for (const use of [() => store.create(id), ...usesOf(store, id)]) {
      expect(await kindOfFailure(use())).toBe("invalidParams");
    }
  }
}
