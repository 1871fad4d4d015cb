import { FlintError, mintId, type StoredEvent, type ThreadState, type Turn } from "@flint/protocol";
import type { Catalogue } from "./catalogue.ts";
import { closeTurn } from "./decide/closing.ts";
import { LiveThread } from "./live-thread.ts";
import type { Clock, Damage, Rules, Sandbox, Store, ThreadWriter } from "./ports/index.ts";
import { ThreadLog } from "./thread-log.ts";
import { SERVER_STOPPED } from "./turn-runner.ts";

/** What the registry builds threads from. */
export interface ThreadRegistryOptions {
  readonly store: Store;
  /** Where threads live that leave nothing behind. */
  readonly ephemeralStore: Store;
  readonly clock: Clock;
  readonly rules: Rules;
  readonly sandbox: Sandbox;
  readonly catalogue: Catalogue;
  readonly approvalTimeoutMs: number;
  /** How long a thread that nobody uses stays loaded. */
  readonly idleMs: number;
}

/** A loaded thread, and what could not be read when it was loaded. */
export interface Loaded {
  readonly thread: LiveThread;
  readonly damage: Damage;
}

const NO_DAMAGE: Damage = { records: 0, missing: 0 };

/** Holds the loaded threads: loads them when they are used, puts them to rest when they are not. */
export class ThreadRegistry {
  readonly #options: ThreadRegistryOptions;
  readonly #loading = new Map<string, Promise<Loaded>>();
  readonly #loaded = new Map<string, Loaded>();
  readonly #closing = new Map<string, Promise<void>>();
  #cancelSweep: (() => void) | undefined;
  #closed = false;

  constructor(options: ThreadRegistryOptions) {
    this.#options = options;
    this.#scheduleSweep();
  }

  /** The thread if it is loaded. */
  loaded(threadId: string): LiveThread | undefined {
    return this.#loaded.get(threadId)?.thread;
  }

  /** The store that holds a thread. */
  storeOf(threadId: string): Store {
    return this.loaded(threadId)?.ephemeral === true ? this.#options.ephemeralStore : this.#options.store;
  }

  /** The thread, loaded if need be. A turn that was cut off by the end of a server is closed first. */
  async load(threadId: string): Promise<Loaded> {
    this.#refuseIfClosed();
    await this.#closing.get(threadId);
    const known = this.#loaded.get(threadId);
    if (known !== undefined) {
      known.thread.usedAt = this.#options.clock.now();
      return known;
    }
    const loading = this.#loading.get(threadId) ?? this.#open(threadId);
    this.#loading.set(threadId, loading);
    return loading.finally(() => this.#loading.delete(threadId));
  }

  /** Makes a thread with its first event still to be committed. */
  async create(initial: (threadId: string) => ThreadState, ephemeral: boolean): Promise<LiveThread> {
    this.#refuseIfClosed();
    const threadId = mintId(this.#options.clock.now());
    const store = ephemeral ? this.#options.ephemeralStore : this.#options.store;
    const writer = await store.create(threadId);
    const thread = this.#build(threadId, writer, initial(threadId), store, ephemeral);
    this.#loaded.set(threadId, { thread, damage: NO_DAMAGE });
    return thread;
  }

  /** Puts a thread to rest now. */
  async unload(threadId: string): Promise<void> {
    const known = this.#loaded.get(threadId);
    if (known === undefined) return;
    this.#loaded.delete(threadId);
    const closing = known.thread.close().finally(() => this.#closing.delete(threadId));
    this.#closing.set(threadId, closing);
    await closing;
  }

  /** Stops everything. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelSweep?.();
    await Promise.allSettled(this.#loading.values());
    await Promise.allSettled([...this.#loaded.keys()].map((threadId) => this.unload(threadId)));
    await Promise.allSettled(this.#closing.values());
  }

  async #open(threadId: string): Promise<Loaded> {
    const { store, clock } = this.#options;
    const opened = await store.open(threadId);
    const thread = this.#build(threadId, opened.writer, opened.state, store, false);
    const { activeTurnId } = opened.state;
    try {
      if (activeTurnId !== undefined) {
        const ending = { status: "interrupted", error: SERVER_STOPPED, by: "serverStopped" } as const;
        await thread.log.commit(closeTurn(opened.state, activeTurnId, ending, clock.now()));
      }
    } catch (error) {
      await thread.log.close();
      throw error;
    }
    const loaded = { thread, damage: opened.damage };
    this.#loaded.set(threadId, loaded);
    return loaded;
  }

  #build(id: string, writer: ThreadWriter, state: ThreadState, store: Store, ephemeral: boolean): LiveThread {
    const { clock, rules, sandbox, catalogue, approvalTimeoutMs } = this.#options;
    const read = (afterSeq: number): AsyncIterable<StoredEvent> => store.read(id, afterSeq);
    const log = new ThreadLog({ writer, state, clock, read });
    const history = () => allTurns(store, id);
    return new LiveThread({ id, ephemeral, log, clock, rules, sandbox, catalogue, approvalTimeoutMs, history });
  }

  #scheduleSweep(): void {
    const { clock, idleMs } = this.#options;
    this.#cancelSweep = clock.after(Math.max(1, idleMs / 2), () => {
      this.#sweep();
      if (!this.#closed) this.#scheduleSweep();
    });
  }

  #sweep(): void {
    const { clock, idleMs } = this.#options;
    for (const [threadId, { thread }] of this.#loaded) {
      const resting = thread.idle && !thread.ephemeral && clock.now() - thread.usedAt >= idleMs;
      // A thread that cannot be stored now stays as it was on the disk; its next use says what is wrong.
      if (resting) void this.unload(threadId).catch(() => undefined);
    }
  }

  #refuseIfClosed(): void {
    if (this.#closed) throw new FlintError("overloaded", "The server is stopping; connect again in a moment.");
  }
}

/** All turns of a thread, oldest first. */
export async function allTurns(store: Store, threadId: string): Promise<readonly Turn[]> {
  const pages: Turn[][] = [];
  let cursor: string | undefined;
  do {
    const page = await store.turns(threadId, { limit: 100, cursor });
    pages.unshift([...page.data]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return pages.flat();
}
