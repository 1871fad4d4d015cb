import type { ClientSession, Engine } from "@flint/core";
import {
  type EventType,
  type FlintError,
  METHODS,
  type Method,
  type Params,
  type ParamsInput,
  type Result,
  type ThreadEvent,
  type Turn,
} from "@flint/protocol";

/** Something that a client got: an event, the answer to a call, or its refusal. */
export type Received =
  | { readonly kind: "told"; readonly event: ThreadEvent }
  | { readonly kind: "answered"; readonly method: Method; readonly result: unknown }
  | { readonly kind: "refused"; readonly method: Method; readonly error: FlintError };

/** An event of this name. */
export type EventOf<Type extends EventType> = Extract<ThreadEvent, { type: Type }>;

type Waiter = { readonly found: (received: Received) => boolean };

/** A client that records, in order, every event and response it receives. */
export class TestClient {
  readonly session: ClientSession;
  /** Everything that came, events and answers, in the order it came. */
  readonly events: Received[] = [];
  /** Set to true to take nothing more; then say `relieved()` to go on. */
  full = false;
  readonly #waiters = new Set<Waiter>();

  constructor(engine: Engine) {
    this.session = engine.connect({ send: (event) => this.#tell(event), isFull: () => this.full });
  }

  /** The events that came, without the answers. */
  get told(): ThreadEvent[] {
    return this.events.flatMap((entry) => (entry.kind === "told" ? [entry.event] : []));
  }

  /** What was received, as text: events by name, answers as `<- method`, refusals as `x method`. */
  get order(): string[] {
    return this.events.map((entry) => {
      if (entry.kind === "told") return entry.event.type;
      return `${entry.kind === "answered" ? "<-" : "x"} ${entry.method}`;
    });
  }

  /** The events of one name that came. */
  toldOf<Type extends EventType>(type: Type): EventOf<Type>[] {
    return this.told.filter((event): event is EventOf<Type> => event.type === type);
  }

  /** Calls a method, with its params checked and completed as at any front end. */
  async call<Name extends Method>(method: Name, params: ParamsInput<Name>): Promise<Result<Name>> {
    // The schema of a row gives the params of that row; indexing by a generic name has lost which.
    const parsed = METHODS[method].params.parse(params) as Params<Name>;
    const answer: { result?: Result<Name> } = {};
    try {
      await this.session.call(method, parsed, (result) => {
        answer.result = result;
        this.#receive({ kind: "answered", method, result });
      });
    } catch (error) {
      // Every failure of a call is a FlintError, or the test is to fail.
      const refusal = error as FlintError;
      this.#receive({ kind: "refused", method, error: refusal });
      throw error;
    }
    if (answer.result === undefined) throw new Error(`${method} ended without an answer.`);
    return answer.result;
  }

  /** The first event of this name that fits, from the very beginning on, or as soon as it comes. */
  async waitFor<Type extends EventType>(
    type: Type,
    fits: (event: EventOf<Type>) => boolean = () => true,
  ): Promise<EventOf<Type>> {
    const known = this.toldOf(type).find(fits);
    if (known !== undefined) return known;
    return new Promise((resolve) => {
      const waiter: Waiter = {
        found: (received) => {
          if (received.kind !== "told" || received.event.type !== type) return false;
          // Its name was compared above.
          const event = received.event as EventOf<Type>;
          if (!fits(event)) return false;
          resolve(event);
          return true;
        },
      };
      this.#waiters.add(waiter);
    });
  }

  /** Starts a thread and gives its id. */
  async startThread(params: ParamsInput<"thread/start"> = {}): Promise<string> {
    return (await this.call("thread/start", params)).thread.id;
  }

  /** Starts a turn with a text and gives its id. */
  async startTurn(
    threadId: string,
    text: string,
    params: Omit<ParamsInput<"turn/start">, "threadId" | "input"> = {},
  ): Promise<string> {
    const { turn } = await this.call("turn/start", { threadId, input: [{ type: "text", text }], ...params });
    if (turn === undefined) throw new Error("The input was queued; no turn was started.");
    return turn.id;
  }

  /** The turn as reported at its end. */
  async turnEnd(turnId: string): Promise<Turn> {
    const { data } = await this.waitFor("turn/completed", (event) => event.data.turn.id === turnId);
    return data.turn;
  }

  /** Runs a turn from its beginning to its end. */
  async runTurn(threadId: string, text: string): Promise<Turn> {
    return this.turnEnd(await this.startTurn(threadId, text));
  }

  /** Takes more again, and says so. */
  relieved(): void {
    this.full = false;
    this.session.drained();
  }

  /** Forgets what came so far. */
  clear(): void {
    this.events.length = 0;
  }

  #tell(event: ThreadEvent): void {
    this.#receive({ kind: "told", event });
  }

  #receive(received: Received): void {
    this.events.push(received);
    for (const waiter of this.#waiters) if (waiter.found(received)) this.#waiters.delete(waiter);
  }
}
