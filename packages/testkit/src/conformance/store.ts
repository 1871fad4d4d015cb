import type { Store } from "@flint/core/ports";
import type { EventBody, Turn } from "@flint/protocol";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  allListed,
  allTurns,
  kindOfFailure,
  listQuery,
  readAll,
  sampleTurn,
  WrittenThread,
} from "./written-thread.ts";

/** A store with what the suite needs to try it. */
export interface StoreUnderTest {
  readonly store: Store;
  /** The same threads as they are found after the process that wrote them has ended. */
  reopen(): Promise<Store>;
  dispose(): Promise<void>;
}

type Make = () => Promise<StoreUnderTest>;

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

/** One suite for every store: what the core relies on, wherever the threads are kept. */
export function describeStore(name: string, make: Make): void {
  describe(`${name}, as any store`, () => {
    test("gives events their numbers in the order of writing, and reads them back from any place", () =>
      checkReading(make));
    test("finds a thread again as it was left, and goes on with its numbers", () => checkReopening(make));
    test("comes to the same state whenever it was checkpointed and reopened on the way", () =>
      checkReplay(make));
    test("tells of a thread that is being written without disturbing its writer", () => checkPeek(make));
    test("lets only one writer have a thread", () => checkOneWriter(make));
    test("gives up every thread when it is closed", () => checkClose(make));
    test("refuses a writer that was closed", () => checkClosedWriter(make));
    test("says so when there is no such thread", () => checkUnknown(make));
    test("refuses every id that is not a plain name [P27]", () => checkBadIds(make));
    test("pages through the turns from the newest to the oldest", () => checkTurnPages(make));
    test("leaves out turns that were reverted, also on the pages before", () => checkReverted(make));
    test("brings back turns whose revert was taken back", () => checkRevertUndone(make));
    test("shows the latest turn that is left when the latest one is reverted", () => checkLatestTurn(make));
    test("lists a thread from its first checkpoint on", () => checkListed(make));
    test("filters and orders the list", () => checkQueries(make));
    test("pages through the list, every thread once, in both orders and directions", () =>
      checkListPages(make));
    test("refuses a cursor that it did not give out", () => checkCursors(make));
    test("forgets a thread that is removed", () => checkRemoval(make));
  });
}

async function arrange(make: Make): Promise<StoreUnderTest> {
  const under = await make();
  onTestFinished(() => under.dispose());
  return under;
}

async function checkReading(make: Make): Promise<void> {
  const { store } = await arrange(make);
  const thread = await WrittenThread.create(store);
  thread.append([]);
  thread.append(sampleTurn(thread.id, "one"));
  thread.append(sampleTurn(thread.id, "two"));
  await thread.writer.sync();
  expect(thread.events.map((event) => event.seq)).toEqual(thread.events.map((_, index) => index + 1));
  expect(await readAll(store, thread.id)).toEqual(thread.events);
  for (let afterSeq = 0; afterSeq <= thread.events.length + 1; afterSeq += 1) {
    expect(await readAll(store, thread.id, afterSeq)).toEqual(thread.events.slice(afterSeq));
  }
}

async function checkReopening(make: Make): Promise<void> {
  const under = await arrange(make);
  const thread = await WrittenThread.create(under.store, { model: "a/b", cwd: "/work" });
  const { epoch } = thread.writer;
  thread.turn("one");
  await thread.close();
  const again = await (await under.reopen()).open(thread.id);
  const { writer, ...read } = again;
  expect(read).toEqual({ epoch, state: thread.state, damage: { records: 0, missing: 0 } });
  expect(writer.epoch).toBe(epoch);
  thread.writer = writer;
  thread.turn("two");
  expect(thread.events.map((event) => event.seq)).toEqual(thread.events.map((_, index) => index + 1));
  await writer.close();
  const store = await under.reopen();
  expect((await store.peek(thread.id)).state).toEqual(thread.state);
  expect(await readAll(store, thread.id)).toEqual(thread.events);
}

type Step = "turn" | "cut" | "rename" | "archive" | "revert" | "queue" | "checkpoint" | "reopen";
const STEPS: readonly Step[] = [
  "turn",
  "cut",
  "rename",
  "archive",
  "revert",
  "queue",
  "checkpoint",
  "reopen",
];

async function checkReplay(make: Make): Promise<void> {
  const under = await arrange(make);
  const steps = fc.array(fc.constantFrom(...STEPS), { maxLength: 12 });
  let { store } = under;
  const property = fc.asyncProperty(steps, async (script) => {
    const thread = await WrittenThread.create(store);
    for (const [index, step] of script.entries()) {
      if (step === "checkpoint") thread.checkpoint();
      else if (step !== "reopen") thread.append(stepEvents(thread, step, index));
      if (step !== "reopen") continue;
      await thread.writer.close();
      store = await under.reopen();
      const { state, writer } = await store.open(thread.id);
      expect(state).toEqual(thread.state);
      thread.writer = writer;
    }
    expect((await store.peek(thread.id)).state).toEqual(thread.state);
    await thread.close();
    store = await under.reopen();
    expect((await store.peek(thread.id)).state).toEqual(thread.state);
  });
  await fc.assert(property, { numRuns: 40 });
}

function stepEvents(thread: WrittenThread, step: Step, index: number): EventBody[] {
  const threadId = thread.id;
  const latest = thread.state.turns.at(-1);
  const open = latest?.status === "inProgress" ? sampleTurn(threadId, latest.id).slice(4) : [];
  switch (step) {
    case "turn":
      return [...open, ...sampleTurn(threadId, `turn-${index}`)];
    case "cut":
      return [...open, ...sampleTurn(threadId, `turn-${index}`).slice(0, 4)];
    case "rename":
      return [{ type: "thread/name/updated", data: { threadId, name: `name ${index}` } }];
    case "archive":
      return [{ type: index % 2 === 0 ? "thread/archived" : "thread/unarchived", data: { threadId } }];
    case "revert":
      return latest === undefined ? [] : [...open, revert(threadId, [latest.id])];
    default:
      return [{ type: "thread/queue/changed", data: { threadId, queue: [] } }];
  }
}

function revert(threadId: string, turnIds: string[]): EventBody {
  return { type: "thread/reverted", data: { threadId, turnIds } };
}

async function checkPeek(make: Make): Promise<void> {
  const { store } = await arrange(make);
  const thread = await WrittenThread.create(store);
  for (const body of sampleTurn(thread.id, "one")) {
    thread.append([body]);
    const peeked = await store.peek(thread.id);
    expect(peeked).toEqual({
      epoch: thread.writer.epoch,
      state: thread.state,
      damage: { records: 0, missing: 0 },
    });
  }
}

async function checkOneWriter(make: Make): Promise<void> {
  const { store } = await arrange(make);
  const thread = await WrittenThread.create(store);
  expect(await kindOfFailure(store.create(thread.id))).toMatch(/threadLocked|storageFailed/);
  await expect(store.open(thread.id)).rejects.toMatchObject({
    kind: "threadLocked",
    data: { threadId: thread.id, pid: process.pid },
  });
  expect(await kindOfFailure(store.remove(thread.id))).toBe("threadLocked");
  await thread.writer.close();
  const { writer } = await store.open(thread.id);
  expect(await kindOfFailure(store.open(thread.id))).toBe("threadLocked");
  await writer.close();
  expect(await kindOfFailure(store.create(thread.id))).toBe("storageFailed");
  expect(await readAll(store, thread.id)).toEqual(thread.events);
}

async function checkClose(make: Make): Promise<void> {
  const { store, reopen } = await arrange(make);
  const thread = await WrittenThread.create(store);
  thread.turn("one");
  thread.checkpoint();
  await store.close();
  expect(() => thread.append([])).toThrow(/closed/);
  const { writer, state } = await (await reopen()).open(thread.id);
  expect(state).toEqual(thread.state);
  await writer.close();
}

async function checkClosedWriter(make: Make): Promise<void> {
  const { store } = await arrange(make);
  const thread = await WrittenThread.create(store);
  const before = thread.state;
  await thread.writer.close();
  await thread.writer.close();
  expect(() => thread.turn("one")).toThrow(/closed/);
  expect(await kindOfFailure(thread.writer.sync())).toBe("storageFailed");
  thread.writer.checkpoint({ ...before, seq: 7 });
  expect((await store.peek(thread.id)).state).toEqual(before);
}

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

async function checkUnknown(make: Make): Promise<void> {
  const { store } = await arrange(make);
  for (const use of usesOf(store, "nobody")) expect(await kindOfFailure(use())).toBe("threadNotFound");
}

async function checkBadIds(make: Make): Promise<void> {
  const { store } = await arrange(make);
  for (const id of BAD_IDS) {
    for (const use of [() => store.create(id), ...usesOf(store, id)]) {
      expect(await kindOfFailure(use())).toBe("invalidParams");
    }
  }
}

async function checkTurnPages(make: Make): Promise<void> {
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

async function checkReverted(make: Make): Promise<void> {
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

async function checkRevertUndone(make: Make): Promise<void> {
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

async function checkLatestTurn(make: Make): Promise<void> {
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

async function checkListed(make: Make): Promise<void> {
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

async function checkQueries(make: Make): Promise<void> {
  const { store } = await arrange(make);
  const changes = [
    { name: "Fix the BUG", cwd: "/a" },
    { preview: "about a bug", cwd: "/b", updatedAt: 5_000_000_000 },
    { name: "nothing", cwd: "/a", archived: true },
    { name: "nothing", cwd: "/a" },
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
  const found = async (wishes: Parameters<typeof listQuery>[0]): Promise<string[]> =>
    (await store.list(listQuery(wishes))).data.map((thread) => thread.id);
  expect(await found({})).toEqual(["t3", "t1", "t0"]);
  expect(await found({ sortDirection: "asc" })).toEqual(["t0", "t1", "t3"]);
  expect(await found({ sortKey: "updatedAt" })).toEqual(["t1", "t3", "t0"]);
  expect(await found({ archived: true })).toEqual(["t2"]);
  expect(await found({ cwd: "/a" })).toEqual(["t3", "t0"]);
  expect(await found({ searchTerm: "bUg" })).toEqual(["t1", "t0"]);
  expect(await found({ searchTerm: "bug", cwd: "/c" })).toEqual([]);
}

async function checkListPages(make: Make): Promise<void> {
  const { store } = await arrange(make);
  const ids: string[] = [];
  for (let index = 0; index < 25; index += 1) {
    // Several in the same second, and some in the same millisecond, so that only the id tells them apart.
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

async function checkCursors(make: Make): Promise<void> {
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

async function checkRemoval(make: Make): Promise<void> {
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
