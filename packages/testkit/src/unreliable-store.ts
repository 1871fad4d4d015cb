import type {
  Damage,
  OpenedThread,
  Page,
  ReadThread,
  Store,
  ThreadQuery,
  ThreadWriter,
  TurnPage,
} from "@flint/core/ports";
import { MemoryStore } from "@flint/host/store";
import {
  type EventBody,
  FlintError,
  type StoredEvent,
  type Thread,
  type ThreadState,
  type Turn,
} from "@flint/protocol";

/** A store whose disk the test controls: it can be full, slow or broken. Everything else is as in the store inside. */
export class UnreliableStore implements Store {
  readonly inner: Store;
  /** The calls, in order: each appended event by its name, and `sync` for each sync. */
  readonly journal: string[] = [];
  /** Makes appends fail while it says so. */
  refuses: (bodies: readonly EventBody[]) => boolean = () => false;
  /** Makes every sync fail. */
  syncFails = false;
  /** Waited for by every sync. */
  syncWaits: () => Promise<void> = async () => undefined;
  /** Waited for by every read of a log, before its first event. May throw. */
  readWaits: () => Promise<void> = async () => undefined;
  /** Reported by every opening. */
  damage: Damage | undefined;

  constructor(inner: Store = new MemoryStore()) {
    this.inner = inner;
  }

  async create(threadId: string): Promise<ThreadWriter> {
    return new UnreliableWriter(this, await this.inner.create(threadId));
  }

  async open(threadId: string): Promise<OpenedThread> {
    const opened = await this.inner.open(threadId);
    const { damage = opened.damage } = this;
    return { ...opened, damage, writer: new UnreliableWriter(this, opened.writer) };
  }

  async *read(threadId: string, afterSeq?: number): AsyncGenerator<StoredEvent> {
    await this.readWaits();
    yield* this.inner.read(threadId, afterSeq);
  }

  peek(threadId: string): Promise<ReadThread> {
    return this.inner.peek(threadId);
  }

  turns(threadId: string, page: TurnPage): Promise<Page<Turn>> {
    return this.inner.turns(threadId, page);
  }

  list(query: ThreadQuery): Promise<Page<Thread>> {
    return this.inner.list(query);
  }

  remove(threadId: string): Promise<void> {
    return this.inner.remove(threadId);
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}

class UnreliableWriter implements ThreadWriter {
  readonly #store: UnreliableStore;
  readonly #inner: ThreadWriter;

  constructor(store: UnreliableStore, inner: ThreadWriter) {
    this.#store = store;
    this.#inner = inner;
  }

  get epoch(): string {
    return this.#inner.epoch;
  }

  append(bodies: readonly EventBody[], at: number): readonly StoredEvent[] {
    if (this.#store.refuses(bodies)) throw new FlintError("storageFailed", "The disk is full.");
    this.#store.journal.push(...bodies.map((body) => body.type));
    return this.#inner.append(bodies, at);
  }

  async sync(): Promise<void> {
    await this.#store.syncWaits();
    if (this.#store.syncFails) throw new FlintError("storageFailed", "The disk reports an error.");
    await this.#inner.sync();
    this.#store.journal.push("sync");
  }

  checkpoint(state: ThreadState): void {
    this.#inner.checkpoint(state);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
