import {
  addUsage,
  emptyThread,
  isDelta,
  NO_USAGE,
  type ParamsInput,
  reduceThread,
  type ThreadItem,
  type ThreadState,
  type TokenUsage,
  type Turn,
  type TurnStatus,
  type UserInput,
} from "@flint/protocol";
import type { AppServerClient } from "../client/app-server-client.ts";
import { FlintConnectionError, FlintRequestError, TurnFailedError } from "../errors.ts";
import { type AgentEvent, eventTurnId } from "../events/agent-event.ts";
import { EventStream } from "../events/event-stream.ts";

/** Input of a user: a text, or pieces of several kinds. */
export type Input = string | readonly UserInput[];

/** Settings that a turn overrides, and the signal that stops it. */
export type TurnOptions = Omit<ParamsInput<"turn/start">, "threadId" | "input" | "delivery"> & {
  /** Interrupts the turn; it then ends with the status "interrupted". */
  readonly signal?: AbortSignal | undefined;
  /** A failed turn is a result like any other instead of an error. */
  readonly allowFailure?: boolean | undefined;
  /** Time within which an interrupted turn must end. 30 s if absent. */
  readonly interruptMs?: number | undefined;
};

/**
 * The outcome of a turn. `text` is the last message of the agent, `usage` what this turn used: of a turn that had begun
 * before its request was repeated with the same `clientId`, only the part from then on.
 */
export type TurnResult = {
  readonly turn: Turn;
  readonly status: TurnStatus;
  readonly text: string;
  readonly items: readonly ThreadItem[];
  readonly usage: TokenUsage;
};

/** Receives the events of a turn. */
export type TurnObserver = { event(event: AgentEvent): void; ended(error: Error | undefined): void };

const INTERRUPT_MS = 30_000;

/**
 * One turn from its request to its `turn/completed`, and nothing else ends it well. Settles exactly once: with the
 * result, or with the error that made a result impossible.
 */
export class TurnRun {
  readonly result: Promise<TurnResult>;
  readonly #client: AppServerClient;
  readonly #threadId: string;
  readonly #options: TurnOptions;
  readonly #observer: TurnObserver;
  readonly #held = new RecentTurns();
  // On a closed connection the subscription ends before it began.
  #unsubscribe: () => void = () => {};
  #turnId: string | undefined;
  /** Its beginning has arrived here, and so every item of it. */
  #isWhole = false;
  #state: ThreadState;
  #usage: TokenUsage = NO_USAGE;
  #interrupting: NodeJS.Timeout | undefined;
  #settled = false;
  #resolve: (result: TurnResult) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(client: AppServerClient, threadId: string, options: TurnOptions, observer: TurnObserver) {
    this.#client = client;
    this.#threadId = threadId;
    this.#options = options;
    this.#observer = observer;
    this.#state = emptyThread(threadId);
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // A program that only reads the events must not end by an unhandled rejection.
    this.result.catch(() => {});
    this.#unsubscribe = client.subscribe({
      threadId,
      event: (event) => this.#onEvent(event),
      ended: (error) => this.#fail(error ?? new FlintConnectionError("closed", "The client was closed.")),
    });
  }

  /** Asks for the turn. Never rejects: what goes wrong is in `result`. */
  async start(input: Input): Promise<void> {
    const { signal, allowFailure, interruptMs, ...overrides } = this.#options;
    if (signal?.aborted) return this.#fail(signal.reason);
    try {
      const pieces: UserInput[] = typeof input === "string" ? [{ type: "text", text: input }] : [...input];
      const params = { threadId: this.#threadId, input: pieces, ...overrides };
      const { turn } = await this.#client.call("turn/start", params);
      if (turn === undefined) throw new FlintConnectionError("badAnswer", "The server started no turn.");
      this.#onStarted(turn.id);
      // A repeated request is answered with its turn, and the end of that was sent long ago.
      if (turn.status !== "inProgress" && !this.#settled) this.#complete(await this.#read(turn));
    } catch (thrown) {
      // Refused or lost: the one who waits for the result learns it there.
      this.#fail(thrown);
    }
  }

  #onStarted(turnId: string): void {
    this.#turnId = turnId;
    for (const event of this.#held.take(turnId)) this.#deliver(event);
    const { signal } = this.#options;
    if (this.#settled || signal === undefined) return;
    if (signal.aborted) this.#interrupt();
    else signal.addEventListener("abort", this.#interrupt, { once: true });
  }

  #onEvent(event: AgentEvent): void {
    const turnId = eventTurnId(event);
    if (this.#turnId === undefined) this.#held.hold(turnId, event);
    else if (turnId === undefined || turnId === this.#turnId) this.#deliver(event);
  }

  #deliver(event: AgentEvent): void {
    if (this.#settled) return;
    this.#fold(event);
    try {
      this.#observer.event(event);
    } catch (thrown) {
      // The observer may be the caller's code; the turn continues without it.
      this.#client.warnOfFault("the observer of a turn", thrown);
    }
    if (event.type === "turn/started") this.#isWhole = true;
    if (event.type === "turn/completed") this.#onCompleted(event.data.turn);
  }

  /** The items of a turn whose beginning came to another connection are read. */
  #onCompleted(completed: Turn): void {
    if (this.#isWhole || this.#options.clientId === undefined)
      this.#complete(this.#state.turns.find((known) => known.id === completed.id) ?? completed);
    else
      this.#read(completed).then(
        (turn) => this.#complete(turn),
        (thrown: unknown) => this.#fail(thrown),
      );
  }

  /** A turn with its items, as the server stores it; as it is given if that is in no history. */
  async #read(turn: Turn): Promise<Turn> {
    const params = { threadId: this.#threadId, includeTurns: true };
    let cursor: string | undefined;
    do {
      const page = await this.#client.call("thread/read", {
        ...params,
        ...(cursor === undefined ? {} : { cursor }),
      });
      const found = page.turns?.find(({ id }) => id === turn.id);
      if (found !== undefined) return found;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return turn;
  }

  /** Pieces of text are left out: an item's own completion holds all of its text. */
  #fold(event: AgentEvent): void {
    if (event.type === "unknown" || isDelta(event)) return;
    this.#state = reduceThread(this.#state, { ...event, at: event.at ?? 0 });
    if (event.type === "thread/tokenUsage/updated") this.#usage = addUsage(this.#usage, event.data.last);
  }

  #complete(turn: Turn): void {
    if (this.#settled) return;
    this.#settle(undefined);
    if (turn.status === "failed" && this.#options.allowFailure !== true) {
      const message = turn.error?.message ?? "The turn failed without a reason from the server.";
      this.#reject(new TurnFailedError("turn", message, { threadId: this.#threadId, turn }));
    } else {
      const { status, items } = turn;
      this.#resolve({ turn, status, text: lastText(items), items, usage: this.#usage });
    }
  }

  readonly #interrupt = (): void => {
    const { interruptMs = INTERRUPT_MS } = this.#options;
    this.#interrupting = setTimeout(() => {
      const message = `The turn was interrupted and did not end within ${interruptMs} ms.`;
      this.#fail(new FlintConnectionError("timedOut", message, { cause: this.#options.signal?.reason }));
    }, interruptMs);
    const turn = {
      threadId: this.#threadId,
      ...(this.#turnId === undefined ? {} : { turnId: this.#turnId }),
    };
    this.#client.call("turn/interrupt", turn).catch((error: unknown) => {
      // Refused means that the turn has already ended, and its completion is on the way.
      if (!(error instanceof FlintRequestError)) this.#fail(error);
    });
  };

  #fail(error: unknown): void {
    if (this.#settled) return;
    this.#settle(error instanceof Error ? error : new Error(String(error)));
    this.#reject(error);
  }

  #settle(error: Error | undefined): void {
    this.#settled = true;
    clearTimeout(this.#interrupting);
    this.#options.signal?.removeEventListener("abort", this.#interrupt);
    this.#unsubscribe();
    this.#observer.ended(error);
  }
}

function lastText(items: readonly ThreadItem[]): string {
  const answer = items.findLast((item) => item.type === "agentMessage" && "text" in item && item.text !== "");
  return answer !== undefined && "text" in answer && typeof answer.text === "string" ? answer.text : "";
}

// The events of a turn can arrive before the response that names it. Others in between are a replay or a turn of another
// client; only a few are buffered, so memory stays bounded.
const MAX_TURNS = 4;

/** The events of the latest turns, until the response names the turn. */
export class RecentTurns {
  readonly #turns = new Map<string, AgentEvent[]>();

  /** Buffers an event of a turn from its start; an event of the thread goes with the latest turn. */
  hold(turnId: string | undefined, event: AgentEvent): void {
    if (event.type === "turn/started") this.#begin(event.data.turn.id);
    const turn = turnId === undefined ? [...this.#turns.values()].at(-1) : this.#turns.get(turnId);
    turn?.push(event);
  }

  /** Returns the events of one turn and forgets the others. */
  take(turnId: string): readonly AgentEvent[] {
    const events = this.#turns.get(turnId) ?? [];
    this.#turns.clear();
    return events;
  }

  #begin(turnId: string): void {
    this.#turns.set(turnId, []);
    const [oldest] = this.#turns.keys();
    if (this.#turns.size > MAX_TURNS && oldest !== undefined) this.#turns.delete(oldest);
  }
}

/**
 * A turn as it happens: its events, and those of its thread that belong to no turn, up to and with `turn/completed`.
 * A failed turn ends the events as any other and rejects `result`. Leaving the loop does not stop the turn; the signal
 * does.
 */
export class TurnStream implements AsyncIterable<AgentEvent> {
  readonly result: Promise<TurnResult>;
  readonly #events: EventStream;

  constructor(client: AppServerClient, threadId: string, input: Input, options: TurnOptions) {
    this.#events = new EventStream(client.buffer);
    const run = new TurnRun(client, threadId, options, {
      event: (event) => this.#events.push(event),
      ended: (error) => this.#events.end(error),
    });
    this.result = run.result;
    void run.start(input);
  }

  [Symbol.asyncIterator](): AsyncIterator<AgentEvent, undefined> {
    return this.#events;
  }
}
