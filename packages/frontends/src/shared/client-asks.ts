import { RemoteError } from "@flint/rpc";
import { type CoreCall, callCore } from "./core-calls.ts";
import type { Client } from "./frontend.ts";

/** A request to the client, and what its answer means: a call of the core, or a further request. */
export interface AskStep {
  readonly method: string;
  readonly params: object;
  /** Reads an answer. One that is not understood is never consent. */
  answered(answer: unknown): CoreCall | AskStep;
}

/** Something that clients are asked. The first answer of any client counts. */
export interface Ask extends AskStep {
  readonly kind: "ask";
  /** Names what is asked; every client is asked at most once under a key. */
  readonly key: string;
  readonly threadId: string;
  /** The call for a client that cannot answer while it is the only one that could. */
  refused(message: string): CoreCall;
}

/** A request that a client was sent and that is not resolved yet. */
export interface OpenAsk {
  /** The id of the request on the wire. */
  readonly id: number;
  readonly threadId: string;
}

/** Differences between front ends. */
export interface ClientAsksOptions {
  /** The id for a request under a key; by default the requests of each client are counted from 0. */
  requestId?(key: string): number;
  /** Something the client was asked is resolved, whether it answered or another client did. */
  onResolved?(ask: OpenAsk): void;
  /** The client has a request that it has not answered, and need not answer any more. */
  onWithdrawn?(ask: OpenAsk): void;
}

interface State {
  id: number;
  readonly threadId: string;
  readonly withdrawn: AbortController;
  /** The client has responded, if only with an error. */
  isAnswered: boolean;
  /** The client answered without effect, and may be asked again. */
  isAskable: boolean;
}

/**
 * Maximum number of requests that ended without the client's answer and can still be answered; many clients
 * drop theirs.
 */
const MAX_LATE = 32;

/**
 * Asks one client: at most once for each key, until any client has answered. An answer that comes later is passed on too:
 * the core knows whether it still counts.
 */
export class ClientAsks {
  readonly #client: Client;
  readonly #options: ClientAsksOptions;
  readonly #open = new Map<string, State>();
  /** Requests that have ended without the client's answer, oldest first. */
  readonly #late = new Set<State>();
  #nextId = 0;

  constructor(client: Client, options: ClientAsksOptions = {}) {
    this.#client = client;
    this.#options = options;
  }

  /** Asks, unless the client is being asked already. */
  ask(ask: Ask): void {
    if (this.#open.get(ask.key)?.isAskable === false) return;
    const withdrawn = new AbortController();
    const state = { id: -1, threadId: ask.threadId, withdrawn, isAnswered: false, isAskable: false };
    this.#open.set(ask.key, state);
    void this.#wait(ask, state);
  }

  /** Sends a request that is about nothing that others could answer, numbered like all others. */
  request(method: string, params: object, signal?: AbortSignal): Promise<unknown> {
    const id = this.#takeId("");
    return this.#client.request(method, params, signal === undefined ? { id } : { id, signal });
  }

  /** A client has answered, the time is over, or the turn has ended. */
  resolve(key: string): void {
    const state = this.#open.get(key);
    if (state === undefined) return;
    this.#withdraw(key, state);
    if (!state.isAnswered) this.#keepLate(state);
    this.#options.onResolved?.(state);
  }

  /** The client leaves a thread. It may be asked again when it comes back. */
  forget(threadId: string): void {
    this.#drop((state) => state.threadId === threadId);
  }

  /** The client is gone. */
  forgetAll(): void {
    this.#drop(() => true);
  }

  #withdraw(key: string, state: State): void {
    this.#open.delete(key);
    if (!state.isAnswered) this.#options.onWithdrawn?.(state);
  }

  #keepLate(state: State): void {
    this.#late.add(state);
    const [oldest] = this.#late;
    if (this.#late.size > MAX_LATE && oldest !== undefined) this.#stopWaiting(oldest);
  }

  #drop(isDropped: (state: State) => boolean): void {
    for (const [key, state] of [...this.#open]) {
      if (!isDropped(state)) continue;
      this.#withdraw(key, state);
      this.#stopWaiting(state);
    }
    for (const state of [...this.#late]) if (isDropped(state)) this.#stopWaiting(state);
  }

  #stopWaiting(state: State): void {
    this.#late.delete(state);
    state.withdrawn.abort(new Error("not needed any more"));
  }

  async #wait(ask: Ask, state: State): Promise<void> {
    // Expected: a client that cannot answer, one that is gone, and a request that is not needed any more.
    try {
      let next: CoreCall | AskStep = ask;
      while ("answered" in next) {
        const answer = await this.#send(next, ask.key, state);
        const isLate = this.#late.delete(state);
        if (!isLate && this.#open.get(ask.key) !== state) return;
        next = next.answered(answer);
        // What has ended has no further steps.
        if (isLate && "answered" in next) return;
      }
      state.isAnswered = true;
      state.isAskable = !(await this.#respond(next));
    } catch (error) {
      this.#late.delete(state);
      await this.#notAnswered(ask, state, error);
    }
  }

  #send({ method, params }: AskStep, key: string, state: State): Promise<unknown> {
    state.id = this.#takeId(key);
    return this.#client.request(method, params, { id: state.id, signal: state.withdrawn.signal });
  }

  /** A client that cannot answer leaves it to the others; without others, it is a refusal. */
  async #notAnswered(ask: Ask, state: State, error: unknown): Promise<void> {
    if (this.#open.get(ask.key) !== state || !(error instanceof RemoteError)) return;
    state.isAnswered = true;
    if (this.#client.isOnlySubscriber(ask.threadId)) {
      await this.#respond(ask.refused(`The client cannot answer: ${error.message}`));
    }
    state.isAskable = true;
  }

  async #respond(call: CoreCall): Promise<boolean> {
    try {
      await callCore(this.#client.core, call);
      return true;
    } catch {
      // It was answered or has ended in the meantime; then this answer is not needed.
      return false;
    }
  }

  #takeId(key: string): number {
    if (this.#options.requestId !== undefined) return this.#options.requestId(key);
    const id = this.#nextId;
    this.#nextId += 1;
    return id;
  }
}
