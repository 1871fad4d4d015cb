import type { EventBody } from "@flint/protocol";
import fc from "fast-check";
import { expect } from "vitest";
import {
  arrange,
  kindOfFailure,
  type MakeStore,
  readAll,
  revert,
  sampleTurn,
  WrittenThread,
} from "./written-thread.ts";

/** Events have their numbers in the order of writing, and are read from any number on. */
export async function checkReading(make: MakeStore): Promise<void> {
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

/** A thread is found again as it was left. */
export async function checkReopening(make: MakeStore): Promise<void> {
  const under = await arrange(make);
  const thread = await WrittenThread.create(under.store, { model: "a/b", cwd: "/code" });
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

/** Whatever is checkpointed and reopened on the way, the state is the same. */
export async function checkReplay(make: MakeStore): Promise<void> {
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

/** Reading does not disturb the writer. */
export async function checkPeek(make: MakeStore): Promise<void> {
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

/** A thread has one writer at a time. */
export async function checkOneWriter(make: MakeStore): Promise<void> {
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

/** A store that is closed gives up its threads. */
export async function checkClose(make: MakeStore): Promise<void> {
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

/** A writer that was closed takes nothing more. */
export async function checkClosedWriter(make: MakeStore): Promise<void> {
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
