import {
  emptyThread,
  NO_USAGE,
  type ParamsInput,
  type Result,
  reduceThread,
  type ThreadItem,
  type ThreadState,
} from "@flint/protocol";
import type { AppServerClient, CallOptions } from "../client/app-server-client.ts";
import { FlintConnectionError } from "../errors.ts";
import { type AgentEvent, eventThreadId } from "../events/agent-event.ts";
import type { EventListener, EventStream } from "../events/event-stream.ts";
import { type Input, type TurnOptions, type TurnResult, TurnRun, TurnStream } from "./turn-run.ts";

/** A position in the log of a thread: the last event seen, and of which log. */
export type ThreadCursor = { readonly afterSeq?: number | undefined; readonly epoch?: string | undefined };

/** Options of a turn, and a listener for its events. */
export type RunOptions = TurnOptions & {
  /** Called with every event as it arrives. An error that it throws becomes a warning. */
  readonly onEvent?: ((event: AgentEvent) => void) | undefined;
};

/** One thread: it runs turns, and `state` always reflects the events received so far. */
export class ThreadHandle {
  readonly id: string;
  readonly #client: AppServerClient;
  readonly #unsubscribe: () => void;
  #state: ThreadState;
  #epoch: string | undefined;
  #hasEarlierTurns = false;
  // Events that came while a snapshot was on its way; they are folded on top of it.
  #held: AgentEvent[] | undefined;
  #waiting: { readonly seq: number; readonly reached: () => void }[] = [];

  constructor(client: AppServerClient, state: ThreadState, earlier: readonly AgentEvent[] = []) {
    this.id = state.thread.id;
    this.#client = client;
    this.#state = state;
    for (const event of earlier) this.#fold(event);
    this.#unsubscribe = client.subscribe({
      threadId: this.id,
      event: (event) => this.#onEvent(event),
      ended: () => {},
    });
  }

  /** The thread as of the last event that arrived. A new value with every event; never mutated. */
  get state(): ThreadState {
    return this.#state;
  }

  /**
   * Reports whether the thread has turns before those in `state`, which attaching leaves out of a long one.
   * `thread/read` has all.
   */
  get hasEarlierTurns(): boolean {
    return this.#hasEarlierTurns;
  }

  /** The position of this handle, to attach again from later. */
  get cursor(): ThreadCursor {
    return { afterSeq: this.#state.seq, epoch: this.#epoch };
  }

  /**
   * Sends input and waits for the end of the turn. Rejects with TurnFailedError if the turn fails (unless allowed),
   * FlintRequestError if it was refused, FlintConnectionError if the connection was lost.
   */
  run(input: Input, options: RunOptions = {}): Promise<TurnResult> {
    const { onEvent = () => {}, ...turnOptions } = options;
    const run = new TurnRun(this.#client, this.id, turnOptions, { event: onEvent, ended: () => {} });
    void run.start(input);
    return run.result;
  }

  /** Sends input and gives the events of the turn as they come; the end is also in `result`. */
  stream(input: Input, options: TurnOptions = {}): TurnStream {
    return new TurnStream(this.#client, this.id, input, options);
  }

  /** Adds input to the running turn. */
  async steer(input: Input, options: CallOptions = {}): Promise<Result<"turn/steer">> {
    const pieces = typeof input === "string" ? [{ type: "text" as const, text: input }] : [...input];
    return this.#client.call("turn/steer", { threadId: this.id, input: pieces }, options);
  }

  /** Stops the running turn. */
  async interrupt(options: CallOptions = {}): Promise<void> {
    await this.#client.call("turn/interrupt", { threadId: this.id }, options);
  }

  /** Everything that happens in this thread from now on. */
  events(): EventStream {
    return this.#client.events(this.id);
  }

  /** Resumes the thread. Resolves once `state` has its history, which arrives as events, as new events do after it. */
  async resume(
    params: Omit<ParamsInput<"thread/resume">, "threadId"> = {},
    options: CallOptions = {},
  ): Promise<Result<"thread/resume">> {
    const answer = await this.#client.call("thread/resume", { ...params, threadId: this.id }, options);
    this.#epoch = answer.epoch;
    await this.#reached(answer.seq ?? 0, options.signal);
    return answer;
  }

  /**
   * Subscribes to the thread from a position, or from its current state if none is given or the server no longer has
   * that position (`truncated`). Afterwards `state` is complete again.
   */
  async attach(cursor: ThreadCursor = {}, options: CallOptions = {}): Promise<Result<"thread/attach">> {
    this.#held ??= [];
    try {
      const answer = await this.#client.call("thread/attach", attachParams(this.id, cursor), options);
      this.#epoch = answer.epoch;
      if (cursor.afterSeq === undefined || answer.truncated) {
        this.#state = snapshotState(answer);
        this.#hasEarlierTurns = answer.nextCursor !== undefined;
      }
      return answer;
    } finally {
      const held = this.#held;
      this.#held = undefined;
      for (const event of held) this.#fold(event);
    }
  }

  /** Unsubscribes from the thread: its turn continues, its events no longer arrive here. */
  async unsubscribe(options: CallOptions = {}): Promise<void> {
    this.release();
    await this.#client.call("thread/unsubscribe", { threadId: this.id }, options);
  }

  /** Keeps `state` as it is from now on, without a word to the server. */
  release(): void {
    this.#unsubscribe();
    for (const { reached } of this.#waiting.splice(0)) reached();
  }

  /** Resolves once an event has arrived; rejects if the connection closes or the signal aborts before. */
  async #reached(seq: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#state.seq >= seq) return;
    const arrived = new Promise<"arrived">((resolve) =>
      this.#waiting.push({ seq, reached: () => resolve("arrived") }),
    );
    const aborted = new Promise<undefined>((resolve) =>
      signal?.addEventListener("abort", () => resolve(undefined), { once: true }),
    );
    const ended = await Promise.race([arrived, aborted, this.#client.closed]);
    signal?.throwIfAborted();
    if (ended !== "arrived") throw ended ?? new FlintConnectionError("closed", "The client was closed.");
  }

  #onEvent(event: AgentEvent): void {
    if (this.#held === undefined) this.#fold(event);
    else this.#held.push(event);
  }

  #fold(event: AgentEvent): void {
    if (event.type === "unknown") return;
    this.#state = reduceThread(this.#state, { ...event, at: event.at ?? Date.now() });
    if (this.#waiting.length === 0) return;
    const { seq } = this.#state;
    for (const { reached } of this.#waiting.filter((wait) => wait.seq <= seq)) reached();
    this.#waiting = this.#waiting.filter((wait) => wait.seq > seq);
  }
}

function attachParams(threadId: string, cursor: ThreadCursor): ParamsInput<"thread/attach"> {
  const { afterSeq, epoch } = cursor;
  return {
    threadId,
    ...(afterSeq === undefined ? {} : { afterSeq }),
    ...(epoch === undefined ? {} : { epoch }),
  };
}

/** The thread as the server reports it, as a state to fold on. What is not reported starts empty. */
function snapshotState(answer: Result<"thread/attach">): ThreadState {
  const { thread, settings, seq, turns, approvals, questions, queue, usage, cost } = answer;
  const active = turns.findLast((turn) => turn.status === "inProgress");
  return {
    ...emptyThread(thread.id),
    ...{ thread, settings, seq, turns, approvals, questions, queue, usage, cost },
    toolCalls: answer.toolCalls ?? [],
    agentCommands: answer.agentCommands,
    lastUsage: answer.lastUsage?.usage ?? NO_USAGE,
    usageTurnId: answer.lastUsage?.turnId,
    modelContextWindow: answer.lastUsage?.modelContextWindow,
    workedMs: answer.workedMs ?? 0,
    activeTurnId: active?.id,
    openItemIds: answer.openItemIds ?? (active?.items ?? []).filter(isProbablyOpen).map(({ id }) => id),
  };
}

/** For servers that do not name the items in progress: what the agent says has no status, and only the last item grows. */
function isProbablyOpen(item: ThreadItem, at: number, items: readonly ThreadItem[]): boolean {
  if ("status" in item) return item.status === "inProgress";
  return item.type !== "userMessage" && at === items.length - 1;
}

/**
 * Collects the events of threads that start while it listens: they can arrive before the response that names the
 * thread.
 */
export class NewThreadEvents implements EventListener {
  readonly #threads = new Map<string, AgentEvent[]>();

  event(event: AgentEvent): void {
    const threadId = eventThreadId(event);
    if (threadId === undefined) return;
    if (event.type === "thread/started" && !this.#threads.has(threadId)) this.#threads.set(threadId, []);
    this.#threads.get(threadId)?.push(event);
  }

  ended(): void {}

  /** The events of a thread since it started. */
  of(threadId: string): readonly AgentEvent[] {
    return this.#threads.get(threadId) ?? [];
  }
}
