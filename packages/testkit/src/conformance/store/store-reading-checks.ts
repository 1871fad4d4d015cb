import type { Store } from "@flint/core/ports";
import type { EventBody, Turn } from "@flint/protocol";
import { expect } from "vitest";
import {
  allListed,
  allTurns,
  arrange,
  kindOfFailure,
  listQuery,
  type MakeStore,
  readAll,
  revert,
  WrittenThread,
} from "./written-thread.ts";

/** A thread is listed from its first checkpoint on. */
export async function checkListed(make: MakeStore): Promise<void> {
  const under = await arrange(make);
  const thread = await WrittenThread.create(under.store);
  expect((await under.store.list(listQuery())).data).toEqual([]);
  thread.turn("one", "What is new?");
  thread.checkpoint();
  const expected = [{ ...thread.state.thread, preview: "What is new?", status: { type: "notLoaded" } }];
  expect((await under.store.list(listQuery())).data).toEqual(expected);
  await thread.writer.close();
  expect((await (await under.reopen()).list(listQuery())).data).toEqual(expected);
}

/** The list is filtered and ordered as asked. */
export async function checkQueries(make: MakeStore): Promise<void> {
  const { store } = await arrange(make);
  const changes = [
    { name: "Fix the BUG", cwd: "/a" },
    {
      preview: "about a bug",
      cwd: "/b",
      updatedAt: 5_000_000_000,
      startedAs: { clientId: "k", digest: "d" },
    },
    { name: "nothing", cwd: "/a", archived: true },
    { name: "nothing", cwd: "/a", taskId: "k" },
  ];
  const ids: string[] = [];
  for (const [index, change] of changes.entries()) {
    const thread = await WrittenThread.create(
      store,
      { createdAt: 1_000_000_000 + index, ...change },
      `t${index}`,
    );
    await thread.close();
    ids.push(thread.id);
  }
  const found = async (options: Parameters<typeof listQuery>[0]): Promise<string[]> =>
    (await store.list(listQuery(options))).data.map((thread) => thread.id);
  expect(await found({})).toEqual(["t3", "t1", "t0"]);
  expect(await found({ sortDirection: "asc" })).toEqual(["t0", "t1", "t3"]);
  expect(await found({ sortKey: "updatedAt" })).toEqual(["t1", "t3", "t0"]);
  expect(await found({ archived: true })).toEqual(["t2"]);
  expect(await found({ cwd: "/a" })).toEqual(["t3", "t0"]);
  expect(await found({ searchTerm: "bUg" })).toEqual(["t1", "t0"]);
  expect(await found({ searchTerm: "bug", cwd: "/c" })).toEqual([]);
  expect([await found({ ofTasks: true }), await found({ ofTasks: false })]).toEqual([["t3"], ["t1", "t0"]]);
  expect(await found({ clientId: "k" })).toEqual(["t1"]);
  expect(await found({ clientId: "d" })).toEqual([]);
}

/** The list comes in pages that hold every thread once. */
export async function checkListPages(make: MakeStore): Promise<void> {
  const { store } = await arrange(make);
  const ids: string[] = [];
  for (let index = 0; index < 25; index += 1) {
    // Several in the same second, and some in the same millisecond, so that only the id distinguishes them.
    const createdAt = 1_000_000_000 + Math.floor(index / 10);
    const thread = await WrittenThread.create(store, { createdAt, updatedAt: createdAt }, `t${10 + index}`);
    if (index % 3 === 0) thread.turn("one");
    await thread.close();
    ids.push(thread.id);
  }
  for (const sortKey of ["createdAt", "updatedAt"] as const) {
    const whole = (await store.list(listQuery({ sortKey }))).data.map((thread) => thread.id);
    expect(whole.toSorted()).toEqual(ids);
    for (const limit of [1, 4, 25]) {
      const paged = await allListed(store, listQuery({ sortKey, limit }));
      expect(paged.map((thread) => thread.id)).toEqual(whole);
      const backwards = await allListed(store, listQuery({ sortKey, limit, sortDirection: "asc" }));
      expect(backwards.map((thread) => thread.id)).toEqual(whole.toReversed());
    }
  }
}

/** A foreign cursor is rejected. */
export async function checkCursors(make: MakeStore): Promise<void> {
  const { store } = await arrange(make);
  for (const id of ["t1", "t2"]) {
    const thread = await WrittenThread.create(store, {}, id);
    thread.turn("a");
    thread.turn("b");
    await thread.close();
  }
  const { nextCursor } = await store.list(listQuery({ limit: 1 }));
  expect(await kindOfFailure(store.list(listQuery({ cursor: nextCursor, sortKey: "updatedAt" })))).toBe(
    "invalidParams",
  );
  const turnCursor = (await store.turns("t1", { limit: 1, cursor: undefined })).nextCursor;
  for (const cursor of ["", "x", "bnVsbA", "W10", "eyJlbmQiOjF9", `${nextCursor}x`, "{}"]) {
    expect(await kindOfFailure(store.list(listQuery({ cursor })))).toBe("invalidParams");
    expect(await kindOfFailure(store.turns("t1", { limit: 1, cursor }))).toBe("invalidParams");
  }
  expect(await kindOfFailure(store.list(listQuery({ cursor: turnCursor })))).toBe("invalidParams");
  expect(await kindOfFailure(store.turns("t1", { limit: 1, cursor: nextCursor }))).toBe("invalidParams");
}

/** A removed thread no longer exists. */
export async function checkRemoval(make: MakeStore): Promise<void> {
  const under = await arrange(make);
  const thread = await WrittenThread.create(under.store, {}, "t1");
  await thread.close();
  await (await WrittenThread.create(under.store, {}, "t2")).close();
  await under.store.remove("t1");
  expect(await kindOfFailure(under.store.peek("t1"))).toBe("threadNotFound");
  expect((await under.store.list(listQuery())).data.map(({ id }) => id)).toEqual(["t2"]);
  const store = await under.reopen();
  expect((await store.list(listQuery())).data.map(({ id }) => id)).toEqual(["t2"]);
  const again = await store.create("t1");
  expect(again.epoch).not.toBe(thread.writer.epoch);
  expect(await readAll(store, "t1")).toEqual([]);
  await again.close();
}

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
  for (const use of usesOf(store, "unknown")) expect(await kindOfFailure(use())).toBe("threadNotFound");
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

/** Turns come in pages, newest page first. */
export async function checkTurnPages(make: MakeStore): Promise<void> {
  const { store } = await arrange(make);
  const thread = await WrittenThread.create(store);
  const none = await store.turns(thread.id, { limit: 5, cursor: undefined });
  expect(none).toEqual({ data: [], nextCursor: undefined });
  const expected: unknown[] = [];
  for (let index = 0; index < 7; index += 1) {
    thread.turn(`turn-${index}`, `text ${index}`);
    expected.push(...thread.state.turns);
    thread.append([{ type: "thread/name/updated", data: { threadId: thread.id, name: `${index}` } }]);
  }
  for (const limit of [1, 2, 3, 6, 7, 8]) expect(await allTurns(store, thread.id, limit)).toEqual(expected);
  const newest = await store.turns(thread.id, { limit: 2, cursor: undefined });
  expect(newest.data).toEqual(expected.slice(-2));
}

/** Turns that were reverted are left out. */
export async function checkReverted(make: MakeStore): Promise<void> {
  const { store } = await arrange(make);
  const thread = await WrittenThread.create(store);
  for (const turnId of ["a", "b", "c", "d"]) thread.turn(turnId);
  thread.append([revert(thread.id, ["b", "d"])]);
  for (const turnId of ["e", "f", "g"]) thread.turn(turnId);
  thread.append([revert(thread.id, ["a", "f"])]);
  for (const limit of [1, 2, 3, 4]) {
    const turns = await allTurns(store, thread.id, limit);
    expect(turns.map((turn) => turn.id)).toEqual(["c", "e", "g"]);
  }
}

/** Turns whose revert was taken back are there again. */
export async function checkRevertUndone(make: MakeStore): Promise<void> {
  const under = await arrange(make);
  const thread = await WrittenThread.create(under.store);
  const { id: threadId } = thread;
  for (const turnId of ["a", "b", "c"]) thread.turn(turnId);
  const [, ...turns] = await allTurns(under.store, threadId, 3);
  const dropped = (revertId: string, turnIds: string[]): EventBody => ({
    type: "thread/reverted",
    data: { threadId, turnIds, revertId },
  });
  const back = (revertId: string, latest: Turn[]): EventBody => ({
    type: "thread/revert/undone",
    data: { threadId, revertId, turns: latest },
  });
  thread.append([dropped("one", ["c"]), dropped("two", ["b"]), back("two", turns.slice(0, 1))]);
  expect((await allTurns(under.store, threadId, 1)).map((turn) => turn.id)).toEqual(["a", "b"]);
  thread.append([back("one", turns.slice(1))]);
  for (const limit of [1, 2, 3]) {
    const left = await allTurns(under.store, threadId, limit);
    expect(left.map((turn) => turn.id)).toEqual(["a", "b", "c"]);
  }
  await thread.close();
  const { state } = await (await under.reopen()).peek(threadId);
  expect(state.turns.at(-1)).toEqual(turns.at(-1));
}

/** The state has the latest turn that is left. */
export async function checkLatestTurn(make: MakeStore): Promise<void> {
  const under = await arrange(make);
  const thread = await WrittenThread.create(under.store);
  thread.turn("a");
  thread.turn("b");
  thread.checkpoint();
  thread.append([revert(thread.id, ["b"])]);
  expect((await under.store.peek(thread.id)).state.turns).toEqual(thread.state.turns);
  expect(thread.state.turns.map((turn) => turn.id)).toEqual(["a"]);
  await thread.close();
  const { state } = await (await under.reopen()).peek(thread.id);
  expect(state).toEqual(thread.state);
}
