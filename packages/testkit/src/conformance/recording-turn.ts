import type { ClientToolCall, DriverEvent, TurnContext } from "@flint/core/ports";
import {
  type Action,
  type Answers,
  DELTA_FIELDS,
  type Decision,
  failedToolCall,
  ID_PATTERN,
  mintId,
  ThreadItem,
  type ThreadSettings,
  type ToolCallResult,
  type UserInput,
  type UserQuestion,
} from "@flint/protocol";
import { settled } from "../clock.ts";

/** Differences of a recording turn from a plain prompt in which everything is allowed. */
export interface RecordingTurnOptions {
  readonly text: string;
  readonly settings: ThreadSettings;
  /** Answers an approval; `undefined` leaves it open until the turn is stopped, as a user who is away does. */
  readonly decide?: (action: Action) => Decision | undefined;
  readonly answers?: Answers;
  /** The result of a call of a client's tool; without it the call stays open until the turn is stopped. */
  readonly toolResult?: ToolCallResult;
  readonly outputSchema?: TurnContext["outputSchema"];
  readonly agentInitiated?: TurnContext["agentInitiated"];
}

type Waiter<Value> = { resolve(value: Value): void; reject(error: Error): void };
type EventWaiter = Waiter<DriverEvent> & { holds(event: DriverEvent): boolean };

const ALLOW: Decision = { outcome: "allow", scope: "once" };
const CANCEL: Decision = { outcome: "cancel", scope: "once" };

/** The smallest thing a driver session can run against: it records every event and request. */
export class RecordingTurn implements TurnContext {
  readonly turnId: string = mintId();
  readonly kind = "prompt";
  readonly review = undefined;
  readonly outputSchema: TurnContext["outputSchema"];
  readonly agentInitiated: TurnContext["agentInitiated"];
  readonly input: readonly UserInput[];
  readonly settings: ThreadSettings;
  /** Events that were reported while the turn ran, in order. */
  readonly events: DriverEvent[] = [];
  /** Events that were reported after it. */
  readonly late: DriverEvent[] = [];
  readonly actions: Action[] = [];
  /** Actions that were asked about after the turn; they are never allowed. */
  readonly lateActions: Action[] = [];
  readonly questions: (readonly UserQuestion[])[] = [];
  readonly toolCalls: ClientToolCall[] = [];
  readonly #options: RecordingTurnOptions;
  readonly #abort = new AbortController();
  readonly #waiters = new Set<EventWaiter>();
  readonly #actionWaiters = new Set<Waiter<Action>>();
  #ended = false;

  constructor(options: RecordingTurnOptions) {
    this.#options = options;
    const { text, outputSchema, agentInitiated } = options;
    this.input = agentInitiated === undefined ? [{ type: "text", text }] : [];
    this.outputSchema = outputSchema;
    this.agentInitiated = agentInitiated;
    this.settings = options.settings;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Tells the driver to stop. */
  stop(): void {
    this.#abort.abort();
  }

  /** Marks the end: events from now on are late, and waiting for one fails. */
  end(): void {
    this.#ended = true;
    for (const waiter of [...this.#waiters, ...this.#actionWaiters]) waiter.reject(new Error(this.#inVain()));
    this.#waiters.clear();
    this.#actionWaiters.clear();
  }

  /** The first event for which this holds, whether it was there already or is still to come. */
  waitFor(holds: (event: DriverEvent) => boolean): Promise<DriverEvent> {
    const found = this.events.find(holds);
    if (found !== undefined) return Promise.resolve(found);
    if (this.#ended) return Promise.reject(new Error(this.#inVain()));
    return new Promise((resolve, reject) => this.#waiters.add({ holds, resolve, reject }));
  }

  /** The first approval that is asked for, whether before or after this call. */
  firstAction(): Promise<Action> {
    const [first] = this.actions;
    if (first !== undefined) return Promise.resolve(first);
    if (this.#ended) return Promise.reject(new Error(this.#inVain()));
    return new Promise((resolve, reject) => this.#actionWaiters.add({ resolve, reject }));
  }

  /** The final states of the items, in order of completion. */
  get completedItems(): readonly ThreadItem[] {
    return this.events.flatMap((event) => (event.type === "item/completed" ? [event.item] : []));
  }

  emit(event: DriverEvent): void {
    if (this.#ended) {
      this.late.push(event);
      return;
    }
    this.events.push(event);
    for (const waiter of this.#waiters) {
      if (!waiter.holds(event)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(event);
    }
  }

  ready(): Promise<void> {
    return settled();
  }

  async approve(action: Action): Promise<Decision> {
    if (this.#ended) {
      this.lateActions.push(action);
      return CANCEL;
    }
    this.actions.push(action);
    for (const waiter of this.#actionWaiters) waiter.resolve(action);
    this.#actionWaiters.clear();
    const { decide = () => ALLOW } = this.#options;
    return decide(action) ?? this.#untilStopped(CANCEL);
  }

  async ask(_itemId: string, questions: readonly UserQuestion[]): Promise<Answers> {
    this.questions.push(questions);
    return this.#options.answers ?? this.#untilStopped({});
  }

  async callTool(call: ClientToolCall): Promise<ToolCallResult> {
    this.toolCalls.push(call);
    return this.#options.toolResult ?? this.#untilStopped(failedToolCall("The turn has ended."));
  }

  #untilStopped<Value>(value: Value): Promise<Value> {
    if (this.signal.aborted) return Promise.resolve(value);
    return new Promise((resolve) => {
      this.signal.addEventListener("abort", () => resolve(value), { once: true });
    });
  }

  #inVain(): string {
    const seen = this.events.map((event) => event.type).join(", ");
    return `The turn ended without what was waited for. It reported: ${seen || "nothing"}.`;
  }
}

/**
 * The problems with the items of a turn, in sentences; empty when all is well. With `whole` every item that was
 * started has to be completed, as in a turn that was not stopped.
 */
export function lifecycleFaults(events: readonly DriverEvent[], whole: boolean): string[] {
  const faults: string[] = [];
  const started = new Set<string>();
  const completed = new Set<string>();
  for (const event of events) {
    const itemId = itemIdOf(event);
    if (itemId === undefined) continue;
    const say = (fault: string): unknown => faults.push(`${event.type} of item ${itemId}: ${fault}`);
    if (!ID_PATTERN.test(itemId)) say("its id is not valid");
    if ("item" in event && !ThreadItem.safeParse(event.item).success) say("it is not a valid item");
    if (event.type === "item/started") {
      if (started.has(itemId)) say("it was started before");
      started.add(itemId);
      continue;
    }
    if (!started.has(itemId)) say("it was never started");
    if (completed.has(itemId)) say("it was completed before");
    if (event.type === "item/completed") completed.add(itemId);
  }
  const open = [...started].filter((itemId) => !completed.has(itemId));
  if (whole) faults.push(...open.map((itemId) => `item ${itemId} was started and never completed`));
  return faults;
}

/** For each completed item whose text also came in pieces and differs from them, a sentence. */
export function streamFaults(events: readonly DriverEvent[]): string[] {
  const streamed = new Map<string, string>();
  const faults: string[] = [];
  for (const event of events) {
    if ("delta" in event) {
      const key = `${event.itemId} ${DELTA_FIELDS.get(event.type)}`;
      streamed.set(key, (streamed.get(key) ?? "") + event.delta);
    }
    if (event.type !== "item/completed") continue;
    for (const [key, text] of streamed) {
      const [itemId, field = ""] = key.split(" ");
      if (itemId !== event.item.id) continue;
      // A patch that was streamed is replaced by the changes, or by why there are none.
      if (event.item.type === "fileChange") continue;
      const final: unknown = Reflect.get(event.item, field);
      if (typeof final !== "string" || final.trim() !== text.trim()) {
        faults.push(`item ${itemId} ends with another ${field} than it streamed`);
      }
    }
  }
  return faults;
}

function itemIdOf(event: DriverEvent): string | undefined {
  if ("item" in event) return event.item.id;
  return "itemId" in event ? event.itemId : undefined;
}
