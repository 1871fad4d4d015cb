import type {
  LaunchResult,
  LaunchSpec,
  OpenedThread,
  Page,
  ReadThread,
  Sandbox,
  Store,
  ThreadQuery,
  ThreadWriter,
  TurnPage,
} from "@flint/core/ports";
import type { SandboxState, StoredEvent, Thread, Turn } from "@flint/protocol";

/** A store that is loaded when it is first used, so that a server answers its first request without it. */
export class StoreOnDemand implements Store {
  readonly #make: () => Promise<Store>;
  #made: Promise<Store> | undefined;

  constructor(make: () => Promise<Store>) {
    this.#make = make;
  }

  async create(threadId: string): Promise<ThreadWriter> {
    return (await this.#store()).create(threadId);
  }

  async open(threadId: string): Promise<OpenedThread> {
    return (await this.#store()).open(threadId);
  }

  async *read(threadId: string, afterSeq?: number): AsyncIterable<StoredEvent> {
    yield* (await this.#store()).read(threadId, afterSeq);
  }

  async peek(threadId: string): Promise<ReadThread> {
    return (await this.#store()).peek(threadId);
  }

  async turns(threadId: string, page: TurnPage): Promise<Page<Turn>> {
    return (await this.#store()).turns(threadId, page);
  }

  async list(query: ThreadQuery): Promise<Page<Thread>> {
    return (await this.#store()).list(query);
  }

  async remove(threadId: string): Promise<void> {
    return (await this.#store()).remove(threadId);
  }

  async close(): Promise<void> {
    if (this.#made !== undefined) await (await this.#made).close();
  }

  #store(): Promise<Store> {
    this.#made ??= this.#make();
    return this.#made;
  }
}

/** A sandbox that is loaded with the first command. */
export class SandboxOnDemand implements Sandbox {
  readonly #make: () => Promise<Sandbox>;
  #made: Promise<Sandbox> | undefined;

  constructor(make: () => Promise<Sandbox>) {
    this.#make = make;
  }

  async state(): Promise<SandboxState> {
    return (await this.#sandbox()).state();
  }

  async launch(spec: LaunchSpec): Promise<LaunchResult> {
    return (await this.#sandbox()).launch(spec);
  }

  #sandbox(): Promise<Sandbox> {
    this.#made ??= this.#make();
    return this.#made;
  }
}
