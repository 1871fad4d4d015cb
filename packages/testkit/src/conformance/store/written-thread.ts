import type { Store, ThreadQuery, ThreadWriter } from "@flint/core/ports";
import {
  type ErrorKind,
  type EventBody,
  emptyThread,
  FlintError,
  mintId,
  reduceThread,
  type StoredEvent,
  type Thread,
  type ThreadState,
  type Turn,
} from "@flint/protocol";
import { onTestFinished } from "vitest";

/** A store, and what the suite needs to test it. */
export interface StoreUnderTest {
  readonly store: Store;
  /** The same threads as a new process finds them. */
  reopen(): Promise<Store>;
  dispose(): Promise<void>;
}

/** Makes a new store for each check. */
export type MakeStore = () => Promise<StoreUnderTest>;

/** The store of one check, removed with its test. */
export async function arrange(make: MakeStore): Promise<StoreUnderTest> {
  const under = await make();
  onTestFinished(() => under.dispose());
  return under;
}

/** The event that drops turns of a thread. */
export function revert(threadId: string, turnIds: string[]): EventBody {
  return { type: "thread/reverted", data: { threadId, turnIds } };
}

/** A fixed time, so that expected times are stable. */
const START = Date.UTC(2030, 0, 1);

/** A query for the first page of everything that is not archived, newest first. */
export function listQuery(options: Partial<ThreadQuery> = {}): ThreadQuery {
  return {
    cursor: undefined,
    limit: 100,
    archived: false,
    searchTerm: undefined,
    cwd: undefined,
    sortKey: "createdAt",
    sortDirection: "desc",
    ...options,
  };
}

/** The first event of a thread. */
export function sampleStart(threadId: string, change: Partial<Thread> = {}): EventBody {
  const { thread, settings } = emptyThread(threadId);
  return { type: "thread/started", data: { thread: { ...thread, ...change }, settings } };
}

/** The events of an ordinary turn: a question, a streamed answer, and the end. */
export function sampleTurn(threadId: string, turnId: string, text = "Hello"): EventBody[] {
  const inTurn = { threadId, turnId };
  const message = { type: "agentMessage" as const, id: `${turnId}-answer` };
  const usage = { inputTokens: text.length, outputTokens: 1 };
  return [
    { type: "turn/started", data: { threadId, turn: { id: turnId, status: "inProgress", items: [] } } },
    {
      type: "item/completed",
      data: {
        ...inTurn,
        item: { type: "userMessage", id: `${turnId}-question`, content: [{ type: "text", text }] },
      },
    },
    { type: "item/started", data: { ...inTurn, item: { ...message, text: "" } } },
    {
      type: "item/agentMessage/delta",
      data: { ...inTurn, itemId: message.id, delta: `${text}, `, offset: 0 },
    },
    {
      type: "item/agentMessage/delta",
      data: { ...inTurn, itemId: message.id, delta: "you.", offset: text.length + 2 },
    },
    { type: "item/completed", data: { ...inTurn, item: { ...message, text: `${text}, you.` } } },
    { type: "thread/tokenUsage/updated", data: { ...inTurn, usage, last: usage } },
    {
      type: "turn/completed",
      data: { threadId, turn: { id: turnId, status: "completed", items: [], itemsView: "notLoaded" } },
    },
  ];
}

/** Returns the state that a store must find: the fold of all events, with only the latest turn. */
export function expectedState(threadId: string, events: readonly StoredEvent[]): ThreadState {
  let state = emptyThread(threadId);
  for (const event of events) state = reduceThread(state, event);
  return { ...state, turns: state.turns.slice(-1) };
}

/** A thread that is being written, with the state after its events. */
export class WrittenThread {
  readonly id: string;
  writer: ThreadWriter;
  readonly events: StoredEvent[] = [];
  #now = START;

  private constructor(id: string, writer: ThreadWriter) {
    this.id = id;
    this.writer = writer;
  }

  /** Makes a thread with its first event. */
  static async create(
    store: Store,
    change: Partial<Thread> = {},
    id: string = mintId(),
  ): Promise<WrittenThread> {
    const thread = new WrittenThread(id, await store.create(id));
    thread.#now = change.createdAt === undefined ? START : change.createdAt * 1000;
    thread.append([sampleStart(id, { createdAt: START / 1000, updatedAt: START / 1000, ...change })]);
    return thread;
  }

  get state(): ThreadState {
    return expectedState(this.id, this.events);
  }

  append(bodies: readonly EventBody[]): void {
    this.#now += 1;
    this.events.push(...this.writer.append(bodies, this.#now));
  }

  turn(turnId: string, text?: string): void {
    for (const body of sampleTurn(this.id, turnId, text)) this.append([body]);
  }

  checkpoint(): void {
    this.writer.checkpoint(this.state);
  }

  async close(): Promise<void> {
    this.checkpoint();
    await this.writer.close();
  }
}

/** Every event of a thread after a number. */
export async function readAll(store: Store, threadId: string, afterSeq?: number): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const event of store.read(threadId, afterSeq)) events.push(event);
  return events;
}

/** Every turn, oldest first, gathered page by page from the newest. */
export async function allTurns(store: Store, threadId: string, limit: number): Promise<Turn[]> {
  const turns: Turn[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.turns(threadId, { limit, cursor });
    turns.unshift(...page.data);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return turns;
}

/** Every thread of a list, gathered page by page. */
export async function allListed(store: Store, query: ThreadQuery): Promise<Thread[]> {
  const threads: Thread[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({ ...query, cursor });
    threads.push(...page.data);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return threads;
}

/** The kind of the FlintError that a promise rejects with; fails if it does not. */
export async function kindOfFailure(work: Promise<unknown>): Promise<ErrorKind> {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof FlintError) return thrown.kind;
  throw new Error("Expected a FlintError", { cause: thrown });
}
