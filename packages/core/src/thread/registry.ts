import {
  FlintError,
  mintId,
  type StoredEvent,
  type ThreadEvent,
  type ThreadState,
  type Turn,
} from "@flint/protocol";
import type { UsageLimits } from "../account/usage-limits.ts";
import type {
  Checkpoints,
  Clock,
  Damage,
  McpServerConfig,
  PolicyRules,
  Rules,
  Sandbox,
  Store,
  ThreadWriter,
  Workspaces,
} from "../ports/index.ts";
import type { Redactor } from "../redact/index.ts";
import type { Catalogue } from "../settings/catalogue.ts";
import type { SettingsLocks } from "../settings/settings-locks.ts";
import { closeTurn, SERVER_STOPPED } from "../turn/closing.ts";
import type { Announcements } from "./announcements.ts";
import { ClientProvided } from "./client-provided.ts";
import { LiveThread } from "./live-thread.ts";
import { ThreadLog } from "./log.ts";

/** Dependencies from which the registry builds threads. */
export interface ThreadRegistryOptions {
  readonly store: Store;
  /** Keeps ephemeral threads, in memory. */
  readonly ephemeralStore: Store;
  readonly clock: Clock;
  readonly usageLimits: UsageLimits;
  readonly checkpoints?: Checkpoints | undefined;
  readonly rules: Rules;
  readonly policyRules?: PolicyRules | undefined;
  /** Settings that an administrator has locked. */
  readonly locks?: SettingsLocks | undefined;
  readonly sandbox: Sandbox;
  readonly catalogue: Catalogue;
  readonly approvalTimeoutMs: number;
  /** Time for which an agent may report nothing while its model is expected to respond. */
  readonly silenceTimeoutMs?: number | undefined;
  realPath(path: string): string;
  folderIdentity?: ((path: string) => string | undefined) | undefined;
  /** Time for which an unused thread stays loaded. */
  readonly idleTimeoutMs: number;
  /** Time for which background work of an agent may continue in an unused thread. */
  readonly backgroundTimeoutMs: number;
  readonly mcpServers: readonly McpServerConfig[];
  readonly workspaces: Workspaces;
  readonly redactor: Redactor;
  readonly announcements: Announcements;
  /** Deletes what is kept of a deleted thread elsewhere. */
  onThreadDeleted?(threadId: string): Promise<void>;
}

/** A loaded thread, and what could not be read when it was loaded. */
export interface LoadedThread {
  readonly thread: LiveThread;
  readonly damage: Damage;
}

const NO_DAMAGE: Damage = { records: 0, missing: 0 };

/** The loaded threads: loads them when they are used and unloads them when they are not. */
export class ThreadRegistry {
  /** The MCP servers and tools that clients provide for single threads. */
  readonly clientProvided = new ClientProvided();
  readonly #options: ThreadRegistryOptions;
  readonly #loading = new Map<string, Promise<LoadedThread>>();
  readonly #loaded = new Map<string, LoadedThread>();
  /** Threads being unloaded, which cannot be loaded before that is done. None of these rejects. */
  readonly #unloading = new Map<string, Promise<void>>();
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

  /** Reports whether a turn or background work is running in any of them. */
  get isWorking(): boolean {
    return [...this.#loaded.values()].some(({ thread }) => thread.isWorking);
  }

  /** The threads in memory. */
  loadedIds(): Iterable<string> {
    return this.#loaded.keys();
  }

  /** The store that holds a thread. */
  storeOf(threadId: string): Store {
    return this.loaded(threadId)?.ephemeral === true ? this.#options.ephemeralStore : this.#options.store;
  }

  /** Returns the thread, loaded if necessary. A turn that was cut off when a server ended is closed first. */
  async load(threadId: string): Promise<LoadedThread> {
    for (
      let unloading = this.#unloading.get(threadId);
      unloading !== undefined;
      unloading = this.#unloading.get(threadId)
    ) {
      await unloading;
    }
    this.#rejectIfClosed();
    const known = this.#loaded.get(threadId);
    if (known !== undefined) {
      known.thread.lastUsedAt = this.#options.clock.now();
      return known;
    }
    return this.#loading.get(threadId) ?? this.#open(threadId);
  }

  /** Runs a method in the queue of its thread, which is loaded if necessary. */
  async runInQueue<Value>(threadId: string, work: (loaded: LoadedThread) => Promise<Value>): Promise<Value> {
    for (;;) {
      const loaded = await this.load(threadId);
      const { thread } = loaded;
      // The thread may have been unloaded while this waited in its queue; then it is loaded again.
      const done = await thread.queue.run(async () =>
        thread.isClosed ? undefined : { value: await work(loaded) },
      );
      if (done !== undefined) return done.value;
    }
  }

  /** Creates a thread whose first event is still to be committed. */
  async create(ephemeral: boolean, initial: (threadId: string) => ThreadState): Promise<LiveThread> {
    this.#rejectIfClosed();
    const threadId = mintId(this.#options.clock.now());
    const store = ephemeral ? this.#options.ephemeralStore : this.#options.store;
    const writer = await store.create(threadId);
    const thread = this.#build(threadId, writer, initial(threadId), store, ephemeral);
    this.#loaded.set(threadId, { thread, damage: NO_DAMAGE });
    // The server may have begun to stop meanwhile, without knowing of this thread.
    if (this.#closed) await this.remove(threadId, false);
    this.#rejectIfClosed();
    return thread;
  }

  /**
   * Deletes a loaded thread for good. `inQueue`: called from its own queue. The caller sends the final event, also if
   * the thread could not be deleted.
   */
  async remove(threadId: string, inQueue: boolean): Promise<void> {
    const store = this.storeOf(threadId);
    const end = (thread: LiveThread) => thread.close(inQueue, true);
    await this.#unload(threadId, end, () => this.#delete(store, threadId));
  }

  /** Stops everything. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelSweep?.();
    await Promise.allSettled(this.#loading.values());
    await Promise.allSettled([...this.#loaded.keys()].map((threadId) => this.#unload(threadId)));
    await Promise.all(this.#unloading.values());
  }

  /** Removes a thread at once and closes it. */
  async #unload(
    threadId: string,
    end = (thread: LiveThread) => thread.close(false),
    then?: () => Promise<void>,
  ): Promise<void> {
    const known = this.#loaded.get(threadId);
    if (known === undefined) return;
    this.#loaded.delete(threadId);
    const closed = end(known.thread).then(then);
    const settled = closed.catch(() => undefined).finally(() => this.#unloading.delete(threadId));
    this.#unloading.set(threadId, settled);
    await closed;
  }

  /** Deletes a thread and what is kept of it. What cannot be deleted of that is unreachable afterwards. */
  async #delete(store: Store, threadId: string): Promise<void> {
    await store.remove(threadId);
    this.clientProvided.delete(threadId);
    await this.#options.checkpoints?.remove(threadId).catch(() => undefined);
    await this.#options.onThreadDeleted?.(threadId).catch(() => undefined);
  }

  #open(threadId: string): Promise<LoadedThread> {
    const loading = this.#read(threadId).finally(() => this.#loading.delete(threadId));
    this.#loading.set(threadId, loading);
    return loading;
  }

  async #read(threadId: string): Promise<LoadedThread> {
    const { store } = this.#options;
    const { writer, state, damage } = await store.open(threadId);
    const thread = this.#build(threadId, writer, state, store, false);
    await this.#closeInterruptedTurn(thread);
    const loaded = { thread, damage };
    this.#loaded.set(threadId, loaded);
    return loaded;
  }

  /** Closes a turn that was running when its server ended. It is not run again. */
  async #closeInterruptedTurn({ log }: LiveThread): Promise<void> {
    const { activeTurnId } = log.state;
    if (activeTurnId === undefined) return;
    const ending = { status: "interrupted", error: SERVER_STOPPED, by: "serverStopped" } as const;
    const events = closeTurn(log.state, activeTurnId, ending, this.#options.clock.now());
    try {
      await log.commit(events);
    } catch {
      // A full disk must not hide the thread; the end of the turn is stored when there is room again.
      await log.commitUnwritten(() => events);
    }
  }

  #build(id: string, writer: ThreadWriter, state: ThreadState, store: Store, ephemeral: boolean): LiveThread {
    const { clock, rules, policyRules, sandbox, catalogue, approvalTimeoutMs, checkpoints } = this.#options;
    const read = (afterSeq: number): AsyncIterable<StoredEvent> => store.read(id, afterSeq);
    const { redactor, announcements } = this.#options;
    const onSent = (event: ThreadEvent): void => announcements.publishIfListed(event);
    const log = new ThreadLog({ writer, state, clock, redactor, onSent, read });
    const history = async () => (await allTurns(store, id)).filter((turn) => turn.status !== "inProgress");
    return new LiveThread({
      id,
      ephemeral,
      log,
      clock,
      usageLimits: this.#options.usageLimits,
      rules,
      policyRules,
      locks: this.#options.locks,
      checkpoints,
      sandbox,
      catalogue,
      approvalTimeoutMs,
      silenceMs: this.#options.silenceTimeoutMs,
      realPath: this.#options.realPath,
      folderIdentity: this.#options.folderIdentity,
      history,
      stateOf: (threadId) => this.#stateOf(threadId),
      mcpServers: (cwd) => this.mcpServers(id, cwd),
      workspaces: this.#options.workspaces,
      clientTools: () => this.clientProvided.tools(id),
      clientHost: () => this.clientProvided.host(id),
    });
  }

  /** Undefined for a thread that was deleted or cannot be read. */
  #stateOf(threadId: string): Promise<ThreadState | undefined> {
    return this.load(threadId).then(
      ({ thread }) => thread.log.state,
      () => undefined,
    );
  }

  /** The user's servers, then those of a thread's client, then the workspace's. The first of each name wins. */
  async mcpServers(threadId: string | undefined, cwd: string): Promise<readonly McpServerConfig[]> {
    const { mcpServers, workspaces } = this.#options;
    const provided = threadId === undefined ? [] : this.clientProvided.mcpServers(threadId);
    const named = new Map<string, McpServerConfig>();
    for (const server of [...mcpServers, ...provided, ...(await workspaces.configOf(cwd)).mcpServers]) {
      if (!named.has(server.name)) named.set(server.name, server);
    }
    return [...named.values()];
  }

  #scheduleSweep(): void {
    const { clock, idleTimeoutMs } = this.#options;
    this.#cancelSweep = clock.after(Math.max(1, idleTimeoutMs / 2), () => {
      this.#sweep();
      if (!this.#closed) this.#scheduleSweep();
    });
  }

  #sweep(): void {
    const { clock, idleTimeoutMs, backgroundTimeoutMs } = this.#options;
    for (const { thread } of this.#loaded.values()) {
      const unusedMs = clock.now() - thread.lastUsedAt;
      if (unusedMs < idleTimeoutMs) continue;
      // State that cannot be stored stays as it is on the disk; the next use of the thread reports it.
      void this.#unloadOrStop(thread, unusedMs >= backgroundTimeoutMs).catch(() => undefined);
    }
  }

  /** Unloads an unused thread, or stops as much of it as possible. */
  async #unloadOrStop(thread: LiveThread, isAbandoned: boolean): Promise<void> {
    const { id, ephemeral } = thread;
    if (thread.isIdle) {
      const forget = () => this.#delete(this.#options.ephemeralStore, id);
      await this.#unload(id, undefined, ephemeral ? forget : undefined);
    } else if (isAbandoned) await thread.stopBackgroundWork();
    else await thread.stopIdleAgent();
  }

  #rejectIfClosed(): void {
    if (this.#closed)
      throw new FlintError("overloaded", "The server is stopping; connect again in a moment.");
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
