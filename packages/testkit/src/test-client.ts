import type { ClientSession, Engine } from "@flint/core";
import {
  type EventType,
  emptyThread,
  type FlintError,
  METHODS,
  type Method,
  type Params,
  type ParamsInput,
  type Result,
  type ThreadEvent,
  type ThreadState,
  type Turn,
} from "@flint/protocol";

/** Something that a client received: an event, the result of a call, or its error. */
export type Received =
  | { readonly kind: "event"; readonly event: ThreadEvent }
  | { readonly kind: "result"; readonly method: Method; readonly result: unknown }
  | { readonly kind: "error"; readonly method: Method; readonly error: FlintError };

/** An event of this type. */
export type EventOf<Type extends EventType> = Extract<ThreadEvent, { type: Type }>;

type Waiter = { readonly found: (received: Received) => boolean };

/** A client that records, in order, every event and response it receives. */
export class TestClient {
  readonly session: ClientSession;
  /** Everything received, events and responses, in order of arrival. */
  readonly received: Received[] = [];
  /** Set to true to accept no more events; call `drained()` to continue. */
  full = false;
  readonly #waiters = new Set<Waiter>();

  constructor(engine: Engine) {
    this.session = engine.connect({
      send: (event) => this.#receive({ kind: "event", event }),
      isFull: () => this.full,
    });
  }

  /** The events received, without the responses. */
  get events(): ThreadEvent[] {
    return this.received.flatMap((entry) => (entry.kind === "event" ? [entry.event] : []));
  }

  /** The received messages, as text: events by type, results as `<- method`, errors as `x method`. */
  get order(): string[] {
    return this.received.map((entry) => {
      if (entry.kind === "event") return entry.event.type;
      return `${entry.kind === "result" ? "<-" : "x"} ${entry.method}`;
    });
  }

  /** The events of one type that were received. */
  eventsOf<Type extends EventType>(type: Type): EventOf<Type>[] {
    return this.events.filter((event): event is EventOf<Type> => event.type === type);
  }

  /** Calls a method, with its params checked and completed as at any front end. */
  async call<Name extends Method>(method: Name, params: ParamsInput<Name>): Promise<Result<Name>> {
    // The schema of a row gives the params of that row; indexing by a generic name has lost which.
    const parsed = METHODS[method].params.parse(params) as Params<Name>;
    const response: { result?: Result<Name> } = {};
    try {
      await this.session.call(method, parsed, (result) => {
        response.result = result;
        this.#receive({ kind: "result", method, result });
      });
    } catch (error) {
      // Calls reject with a FlintError; anything else fails the test that sees it.
      this.#receive({ kind: "error", method, error: error as FlintError });
      throw error;
    }
    if (response.result === undefined) throw new Error(`${method} ended without a result.`);
    return response.result;
  }

  /** The first event of this type that fits, received already or still to come. */
  async waitFor<Type extends EventType>(
    type: Type,
    fits: (event: EventOf<Type>) => boolean = () => true,
  ): Promise<EventOf<Type>> {
    const known = this.eventsOf(type).find(fits);
    if (known !== undefined) return known;
    return new Promise((resolve) => {
      const waiter: Waiter = {
        found: (received) => {
          if (received.kind !== "event" || received.event.type !== type) return false;
          // Its type was compared above.
          const event = received.event as EventOf<Type>;
          if (!fits(event)) return false;
          resolve(event);
          return true;
        },
      };
      this.#waiters.add(waiter);
    });
  }

  /** Starts a thread and resolves with its id. */
  async startThread(params: ParamsInput<"thread/start"> = {}): Promise<string> {
    return (await this.call("thread/start", params)).thread.id;
  }

  /** Starts a turn with this text and resolves with its id. */
  async startTurn(
    threadId: string,
    text: string,
    params: Omit<ParamsInput<"turn/start">, "threadId" | "input"> = {},
  ): Promise<string> {
    const { turn } = await this.call("turn/start", { threadId, input: [{ type: "text", text }], ...params });
    if (turn === undefined) throw new Error("The input was queued; no turn was started.");
    return turn.id;
  }

  /** Resolves with the turn as `turn/completed` carries it. */
  async turnEnd(turnId: string): Promise<Turn> {
    const { data } = await this.waitFor("turn/completed", (event) => event.data.turn.id === turnId);
    return data.turn;
  }

  /** Runs a turn to its end. */
  async runTurn(threadId: string, text: string): Promise<Turn> {
    return this.turnEnd(await this.startTurn(threadId, text));
  }

  /** Accepts events again, and notifies the session. */
  drained(): void {
    this.full = false;
    this.session.drained();
  }

  /** Drops what was received so far. */
  clear(): void {
    this.received.length = 0;
  }

  #receive(received: Received): void {
    this.received.push(received);
    for (const waiter of this.#waiters) if (waiter.found(received)) this.#waiters.delete(waiter);
  }
}

/** The state that a client has after it attached. */
export function attachedState(answer: Result<"thread/attach">): ThreadState {
  const { thread, settings, seq, turns, approvals, questions, queue, usage, openItemIds = [] } = answer;
  const active = turns.findLast((turn) => turn.status === "inProgress");
  return {
    ...emptyThread(thread.id),
    ...{ thread, settings, seq, turns, approvals, questions, queue, usage, openItemIds },
    activeTurnId: active?.id,
  };
}
