import {
  checkThreadId,
  closedWriter,
  type Damage,
  type OpenedThread,
  type Page,
  type ReadThread,
  type Store,
  type ThreadQuery,
  type ThreadWriter,
  type TurnPage,
  threadNotFound,
} from "@flint/core/ports";
import {
  type EventBody,
  emptyThread,
  FlintError,
  mintId,
  type StoredEvent,
  type Thread,
  type ThreadState,
  type Turn,
} from "@flint/protocol";
import { listedThread, ThreadList } from "./listing/thread-list.ts";
import { LogFold, type ThreadTimes, timesAfter } from "./log/fold.ts";
import { decodeTurnCursor, recordOf, TurnCollector } from "./log/turn-collector.ts";

const NO_DAMAGE: Damage = { records: 0, missing: 0 };

interface MemoryThread {
  readonly epoch: string;
  readonly events: StoredEvent[];
  times: ThreadTimes;
  writer: ThreadWriter | undefined;
}

/** Stores threads in memory: for ephemeral threads and tests. */
export class MemoryStore implements Store {
  readonly #threads = new Map<string, MemoryThread>();
  readonly #list = new ThreadList();

  async create(threadId: string): Promise<ThreadWriter> {
    checkThreadId(threadId);
    if (this.#threads.has(threadId)) {
      throw new FlintError("storageFailed", `Thread ${threadId} exists already.`, {
        threadId,
        code: "EEXIST",
      });
    }
    const times = { createdAtMs: 0, updatedAtMs: 0 };
    const thread: MemoryThread = { epoch: mintId(), events: [], times, writer: undefined };
    this.#threads.set(threadId, thread);
    return this.#writer(threadId, thread);
  }

  async open(threadId: string): Promise<OpenedThread> {
    const thread = this.#find(threadId);
    return { ...read(threadId, thread), writer: this.#writer(threadId, thread) };
  }

  async *read(threadId: string, afterSeq = 0): AsyncGenerator<StoredEvent> {
    const { events } = this.#find(threadId);
    for (let at = afterSeq; at < events.length; at += 1) {
      const event = events[at];
      if (event !== undefined) yield event;
    }
  }

  async peek(threadId: string): Promise<ReadThread> {
    return read(threadId, this.#find(threadId));
  }

  async turns(threadId: string, page: TurnPage): Promise<Page<Turn>> {
    return readTurns(this.#find(threadId).events, page);
  }

  async list(query: ThreadQuery): Promise<Page<Thread>> {
    return this.#list.page(query);
  }

  async remove(threadId: string): Promise<void> {
    if (this.#find(threadId).writer !== undefined) throw alreadyOpen(threadId);
    this.#threads.delete(threadId);
    this.#list.delete(threadId);
  }

  async close(): Promise<void> {
    for (const { writer } of this.#threads.values()) await writer?.close();
  }

  #find(threadId: string): MemoryThread {
    checkThreadId(threadId);
    const thread = this.#threads.get(threadId);
    if (thread === undefined) throw threadNotFound(threadId);
    return thread;
  }

  #writer(threadId: string, thread: MemoryThread): ThreadWriter {
    if (thread.writer !== undefined) throw alreadyOpen(threadId);
    thread.writer = new MemoryWriter(threadId, thread, this.#list);
    return thread.writer;
  }
}

class MemoryWriter implements ThreadWriter {
  readonly #threadId: string;
  readonly #thread: MemoryThread;
  readonly #list: ThreadList;
  #isClosed = false;

  constructor(threadId: string, thread: MemoryThread, list: ThreadList) {
    this.#threadId = threadId;
    this.#thread = thread;
    this.#list = list;
  }

  get epoch(): string {
    return this.#thread.epoch;
  }

  append(bodies: readonly EventBody[], at: number): readonly StoredEvent[] {
    if (this.#isClosed) throw closedWriter(this.#threadId);
    const first = this.#thread.events.length + 1;
    const events = bodies.map((body, index): StoredEvent => ({ ...body, seq: first + index, at }));
    this.#thread.events.push(...events);
    for (const { type } of events) this.#thread.times = timesAfter(this.#thread.times, type, at);
    return events;
  }

  async sync(): Promise<void> {
    if (this.#isClosed) throw closedWriter(this.#threadId);
  }

  checkpoint(state: ThreadState): void {
    if (!this.#isClosed) this.#list.set(listedThread(state, this.#thread.times));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#thread.writer = undefined;
  }
}

function read(threadId: string, { epoch, events, times }: MemoryThread): ReadThread {
  const fold = new LogFold(emptyThread(threadId), times);
  for (const event of events) fold.add(event, false);
  const latest = readTurns(events, { limit: 1, cursor: undefined }).data;
  return { epoch, state: { ...fold.state, turns: latest }, damage: NO_DAMAGE };
}

function readTurns(events: readonly StoredEvent[], page: TurnPage): Page<Turn> {
  const cursor = page.cursor === undefined ? undefined : decodeTurnCursor(page.cursor, events.length);
  const collector = new TurnCollector(page.limit, cursor?.gone ?? [], cursor !== undefined);
  let needsMore = true;
  for (let at = (cursor?.end ?? events.length) - 1; at >= 0 && needsMore; at -= 1) {
    const event = events[at];
    if (event !== undefined) needsMore = collector.add(recordOf(event, at));
  }
  if (needsMore) collector.end();
  return collector.page();
}

function alreadyOpen(threadId: string): FlintError {
  const message = `Thread ${threadId} is already open in this process.`;
  return new FlintError("threadLocked", message, { threadId, pid: process.pid });
}
