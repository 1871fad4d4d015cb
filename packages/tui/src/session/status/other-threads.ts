import type { Thread, ThreadStatus } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";

/** The statuses of a thread that is not shown which deserve a look, most urgent first. */
const STANDINGS = ["waiting", "failed", "running"] as const;
export type ThreadStatusKind = (typeof STANDINGS)[number];

/** Threads that changed longer ago are not worth asking about. */
const LATEST = 50;

/** The threads that are waiting for the user, running or have failed, besides the one that is shown. */
export class OtherThreads {
  readonly #client: () => FlintClient;
  readonly #changed: () => void;
  readonly #standings = new Map<string, ThreadStatusKind>();
  #shown: string | undefined;
  #before: string | undefined;

  constructor(client: () => FlintClient, changed: () => void) {
    this.#client = client;
    this.#changed = changed;
  }

  /** The thread that was shown before this one. */
  get before(): string | undefined {
    return this.#before;
  }

  /** Returns the number of threads with a status. */
  count(standing: ThreadStatusKind): number {
    return this.#of(standing).length;
  }

  /** The ids of those that wait for the user. */
  get waiting(): readonly string[] {
    return this.#of("waiting");
  }

  /** The thread to look at next: the most urgent, and of those the one that was not looked at for longest. */
  next(): string | undefined {
    return STANDINGS.flatMap((standing) => this.#of(standing))[0];
  }

  /** Another thread is shown now. What it failed with is seen then. */
  shows(threadId: string | undefined): void {
    if (threadId === this.#shown) return;
    if (this.#shown !== undefined) this.#before = this.#shown;
    this.#shown = threadId;
    const standing = threadId === undefined ? undefined : this.#standings.get(threadId);
    if (threadId === undefined || standing === undefined) return;
    this.#standings.delete(threadId);
    if (standing !== "failed") this.#standings.set(threadId, standing);
  }

  /** A thread is now active or idle. */
  note(threadId: string, status: ThreadStatus): void {
    const wasBusy = this.#standings.has(threadId);
    const standing = statusKindOf(status);
    this.#standings.delete(threadId);
    if (standing !== undefined) this.#standings.set(threadId, standing);
    else if (wasBusy && threadId !== this.#shown) void this.#noteFailure(threadId);
  }

  /** A thread does not exist any more. */
  forget(threadId: string): void {
    this.#standings.delete(threadId);
    if (this.#before === threadId) this.#before = undefined;
  }

  /** Asks the server how all threads stand. Old failures are not news. */
  async load(): Promise<void> {
    const threads = await this.#latest();
    for (const [id, standing] of this.#standings) if (standing !== "failed") this.#standings.delete(id);
    for (const { id, status } of threads) {
      const standing = statusKindOf(status);
      if (standing !== undefined) this.#standings.set(id, standing);
    }
    this.#changed();
  }

  #of(requested: ThreadStatusKind): string[] {
    return [...this.#standings].flatMap(([id, standing]) =>
      standing === requested && id !== this.#shown ? [id] : [],
    );
  }

  async #noteFailure(threadId: string): Promise<void> {
    const thread = (await this.#latest()).find(({ id }) => id === threadId);
    if (thread?.lastTurnFailed !== true || thread.status.type === "active") return;
    this.#standings.set(threadId, "failed");
    this.#changed();
  }

  async #latest(): Promise<readonly Thread[]> {
    // Expected: the server is gone. It is asked again once it is back.
    try {
      return (await this.#client().listThreads({ limit: LATEST, sortKey: "updatedAt" })).data;
    } catch {
      return [];
    }
  }
}

function statusKindOf({ type, activeFlags = [] }: ThreadStatus): ThreadStatusKind | undefined {
  if (type !== "active") return undefined;
  return activeFlags.length > 0 ? "waiting" : "running";
}
