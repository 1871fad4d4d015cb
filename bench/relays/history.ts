import { JsonlStore } from "@flint/host/store";
import {
  type EventBody,
  emptyThread,
  mintId,
  reduceThread,
  type Thread,
  type ThreadItem,
  type ThreadState,
  type Turn,
} from "@flint/protocol";

/** The length of a measurement's thread. */
export interface Length {
  readonly turns: number;
  readonly itemsPerTurn: number;
}

const THREADS_AT_ONCE = 16;
const ONE_MINUTE = 60_000;
const ONE_SECOND = 1000;
const SENTENCE =
  "The function now returns early when the list is empty, and the caller no longer has to ask. ";
const OUTPUT = "ok  packages/example/source/list.ts (12 checks, 0 failures)\n";

/** Makes threads through the store itself, so that they are on the disk as the product leaves them. */
export async function storeThreads(root: string, count: number, length: Length): Promise<string[]> {
  const store = new JsonlStore({ root, durability: "relaxed" });
  const threadIds: string[] = [];
  const makeSome = async (): Promise<void> => {
    while (threadIds.length < count) {
      const threadId = mintId();
      threadIds.push(threadId);
      await storeThread(store, threadId, length, threadIds.length);
    }
  };
  await Promise.all(Array.from({ length: THREADS_AT_ONCE }, makeSome));
  await store.close();
  return threadIds;
}

async function storeThread(
  store: JsonlStore,
  threadId: string,
  length: Length,
  place: number,
): Promise<void> {
  const writer = await store.create(threadId);
  // Each thread has a time of its own, so that sorting by time has something to do.
  const start = Date.now() - (place + length.turns) * ONE_MINUTE;
  let state = emptyThread(threadId);
  const write = (bodies: readonly EventBody[], at: number): void => {
    for (const event of writer.append(bodies, at)) state = reduceThread(state, event);
    state = { ...state, turns: state.turns.slice(-1) };
  };
  write([startedThread(threadId, start, state)], start);
  for (let turn = 0; turn < length.turns; turn += 1) {
    const at = start + turn * ONE_MINUTE;
    write(turnEvents(threadId, length.itemsPerTurn, at), at);
  }
  writer.checkpoint(state);
  await writer.close();
}

function startedThread(threadId: string, at: number, { thread, settings }: ThreadState): EventBody {
  const model = "flint/offline";
  const seconds = Math.floor(at / ONE_SECOND);
  const named: Thread = {
    ...thread,
    id: threadId,
    modelProvider: "flint",
    model,
    createdAt: seconds,
    updatedAt: seconds,
  };
  return { type: "thread/started", data: { thread: named, settings: { ...settings, model } } };
}

function turnEvents(threadId: string, items: number, at: number): EventBody[] {
  const turn: Turn = { id: mintId(), status: "inProgress", items: [], kind: "prompt", startedAtMs: at };
  const made = Array.from({ length: items }, (_, place) => exampleItem(place));
  const events: EventBody[] = [{ type: "turn/started", data: { threadId, turn } }];
  for (const item of made) {
    const data = { threadId, turnId: turn.id, item };
    events.push({ type: "item/started", data }, { type: "item/completed", data });
  }
  const ended: Turn = {
    ...turn,
    status: "completed",
    itemsView: "notLoaded",
    completedAtMs: at + ONE_SECOND,
  };
  return [...events, { type: "turn/completed", data: { threadId, turn: ended } }];
}

/** A user's message, then what an agent does in turn: it speaks, runs a command, and thinks. */
function exampleItem(place: number): ThreadItem {
  const id = mintId();
  if (place === 0) return { type: "userMessage", id, content: [{ type: "text", text: SENTENCE }] };
  switch (place % 3) {
    case 0:
      return { type: "reasoning", id, content: SENTENCE.repeat(4) };
    case 1:
      return { type: "agentMessage", id, text: SENTENCE.repeat(6) };
    default:
      return {
        type: "commandExecution",
        id,
        command: "npm test",
        cwd: "/project",
        status: "completed",
        exitCode: 0,
        aggregatedOutput: OUTPUT.repeat(20),
        durationMs: 1200,
      };
  }
}
