import type { EventBody, Turn } from "@flint/protocol";
import { expect } from "vitest";
import { arrange, type MakeStore, revert } from "./store-under-test.ts";
import { allTurns, WrittenThread } from "./written-thread.ts";

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
