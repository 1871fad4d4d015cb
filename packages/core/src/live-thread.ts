import {
  type EventBody,
  FlintError,
  mintId,
  type QueuedInput,
  type ReviewTarget,
  type ThreadItem,
  type ThreadSettings,
  type Turn,
  type TurnKind,
  type UserInput,
} from "@flint/protocol";
import type { Catalogue } from "./catalogue.ts";
import { dequeue } from "./decide/queue.ts";
import { reviewPrompt, reviewTitle } from "./decide/review.ts";
import { OpenRequests } from "./open-requests.ts";
import type { Clock, DriverSession, Rules, Sandbox } from "./ports/index.ts";
import { SerialQueue } from "./serial-queue.ts";
import type { ThreadLog } from "./thread-log.ts";
import { type StartedTurn, TurnRunner } from "./turn-runner.ts";

/** What a thread needs of its server. */
export interface LiveThreadOptions {
  readonly id: string;
  readonly ephemeral: boolean;
  readonly log: ThreadLog;
  readonly clock: Clock;
  readonly rules: Rules;
  readonly sandbox: Sandbox;
  readonly catalogue: Catalogue;
  readonly approvalTimeoutMs: number;
  /** The turns so far, oldest first. */
  history(): Promise<readonly Turn[]>;
}

/** What is needed to begin a turn. */
export interface NewTurn {
  readonly kind: TurnKind;
  readonly input: readonly UserInput[];
  readonly review?: ReviewTarget | undefined;
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly clientId?: string | undefined;
}

/** A turn that is decided: the events that make it true, and what is to be run once they are told. */
export interface DecidedTurn {
  readonly turn: Turn;
  readonly events: readonly EventBody[];
  readonly started: StartedTurn;
}

/** A loaded thread: its log, its agent's session, its running turn and its open questions. */
export class LiveThread {
  readonly id: string;
  readonly ephemeral: boolean;
  readonly log: ThreadLog;
  readonly requests: OpenRequests;
  /** The order in which the methods of this thread run. */
  readonly queue = new SerialQueue();
  readonly #options: LiveThreadOptions;
  #runner: TurnRunner | undefined;
  #running: Promise<void> = Promise.resolve();
  #session: { readonly agent: string; readonly opened: Promise<DriverSession> } | undefined;
  #closing = false;
  /** When somebody last used it, in unix milliseconds. */
  usedAt: number;

  constructor(options: LiveThreadOptions) {
    const { id, log, clock, rules } = options;
    this.id = id;
    this.ephemeral = options.ephemeral;
    this.log = log;
    this.#options = options;
    this.requests = new OpenRequests({ threadId: id, log, clock, rules, timeoutMs: options.approvalTimeoutMs });
    this.usedAt = clock.now();
  }

  /** The agent that the thread's model belongs to. */
  get agent(): string {
    return this.#options.catalogue.driverOf(this.log.state.settings.model).id;
  }

  /** Whether it may be put to rest. */
  get idle(): boolean {
    return this.#runner === undefined && this.log.followers === 0 && !this.queue.busy;
  }

  /** Makes a turn that can be committed. Refuses while another one runs. */
  decideTurn(wanted: NewTurn): DecidedTurn {
    this.refuseIfActive();
    const now = this.#options.clock.now();
    const turn: Turn = {
      id: mintId(now),
      status: "inProgress",
      items: [],
      kind: wanted.kind,
      startedAtMs: now,
    };
    const events: EventBody[] = [{ type: "turn/started", data: { threadId: this.id, turn } }];
    for (const item of firstItems(wanted)) events.push(...itemEvents(this.id, turn.id, item));
    const { kind, review, outputSchema } = wanted;
    const input = review === undefined ? wanted.input : [textInput(reviewPrompt(review))];
    return { turn, events, started: { turnId: turn.id, kind, input, review, outputSchema } };
  }

  refuseIfActive(): void {
    const { activeTurnId } = this.log.state;
    if (activeTurnId === undefined) return;
    const message = `Thread ${this.id} is busy with turn ${activeTurnId}. Wait for it, interrupt it, or send the input with delivery "steer" or "queue".`;
    throw new FlintError("turnInProgress", message, { activeTurnId });
  }

  /** Runs a turn that was committed, and after it what waits in the queue. */
  start(started: StartedTurn): void {
    const { log, clock } = this.#options;
    const runner = new TurnRunner({
      threadId: this.id,
      agent: this.agent,
      turn: started,
      log,
      requests: this.requests,
      clock,
      session: () => this.#openSession(),
      dropSession: () => this.dropSession(),
    });
    this.#runner = runner;
    this.#running = this.#runToEnd(runner);
  }

  /** Stops the running turn. */
  interrupt(turnId?: string): void {
    const runner = this.#runner;
    if (runner === undefined) {
      throw new FlintError("notRunning", `Thread ${this.id} runs no turn.`, { threadId: this.id });
    }
    if (turnId !== undefined && turnId !== runner.turnId) {
      const message = `Turn ${turnId} is not running; the running one is ${runner.turnId}.`;
      throw new FlintError("notRunning", message, { activeTurnId: runner.turnId });
    }
    runner.interrupt("interrupt");
  }

  /** Gives input to the running turn. False if its agent cannot take it now. */
  async steer(input: readonly UserInput[]): Promise<boolean> {
    const session = await this.#session?.opened;
    return (await session?.steer?.(input)) ?? false;
  }

  /** The running turn's id, or an error that says there is none. */
  runningTurnId(expected?: string): string {
    const { activeTurnId } = this.log.state;
    if (activeTurnId === undefined) {
      throw new FlintError("notRunning", `Thread ${this.id} runs no turn to steer.`, { threadId: this.id });
    }
    if (expected !== undefined && expected !== activeTurnId) {
      const message = `Turn ${expected} is not running; the running one is ${activeTurnId}.`;
      throw new FlintError("notRunning", message, { activeTurnId });
    }
    return activeTurnId;
  }

  /** Ends the agent's session; the next turn opens a new one. */
  async dropSession(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    // A session that fails to close has failed already, and nobody is left to tell.
    await session?.opened.then((opened) => opened.close()).catch(() => undefined);
  }

  /** Stops what runs, ends the agent, stores everything. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#runner?.interrupt("serverStopped");
    await this.#running;
    await this.dropSession();
    await this.log.close();
  }

  async #runToEnd(runner: TurnRunner): Promise<void> {
    const status = await runner.run();
    this.#runner = undefined;
    this.usedAt = this.#options.clock.now();
    // After an interruption or a failure a person should look before the queue goes on.
    if (status === "completed" && !this.#closing) void this.queue.run(() => this.#startNext());
  }

  async #startNext(): Promise<void> {
    const { queue, activeTurnId } = this.log.state;
    const next = queue[0];
    if (next === undefined || activeTurnId !== undefined || this.#closing) return;
    const decided = this.decideQueued(next);
    try {
      await this.log.commit(decided.events);
    } catch {
      // The log cannot be written: the input stays in the queue, and the next request says what is wrong.
      return;
    }
    this.start(decided.started);
  }

  /** A turn made from an input that waits; it leaves the queue with it. */
  decideQueued(next: QueuedInput): DecidedTurn {
    const decided = this.decideTurn({ kind: "prompt", input: next.input, clientId: next.clientId });
    const queue = dequeue(this.log.state.queue, next.id);
    return { ...decided, events: [{ type: "thread/queue/changed", data: { threadId: this.id, queue } }, ...decided.events] };
  }

  async #openSession(): Promise<DriverSession> {
    const { catalogue, sandbox, history } = this.#options;
    const { settings, nativeIds } = this.log.state;
    const driver = catalogue.driverOf(settings.model);
    if (this.#session !== undefined && this.#session.agent !== driver.id) await this.dropSession();
    this.#session ??= {
      agent: driver.id,
      opened: driver.open({ threadId: this.id, settings, nativeId: nativeIds[driver.id], history, sandbox }),
    };
    return this.#session.opened;
  }
}

/** What stands at the beginning of a turn: the user's message, or the note that a review begins. */
function firstItems(wanted: NewTurn): ThreadItem[] {
  if (wanted.review !== undefined) {
    return [{ type: "enteredReviewMode", id: mintId(), review: reviewTitle(wanted.review) }];
  }
  return wanted.kind === "compact" ? [] : [userMessage(wanted.input, wanted.clientId)];
}

/** The item that shows what the user sent. */
export function userMessage(input: readonly UserInput[], clientId?: string): ThreadItem {
  const item: ThreadItem = { type: "userMessage", id: mintId(), content: [...input] };
  return clientId === undefined ? item : { ...item, clientId };
}

/** An item that is complete from the start. */
export function itemEvents(threadId: string, turnId: string, item: ThreadItem): EventBody[] {
  const data = { threadId, turnId, item };
  return [
    { type: "item/started", data },
    { type: "item/completed", data },
  ];
}

/** The settings event for a thread, if the settings really changed. */
export function settingsEvents(thread: LiveThread, settings: ThreadSettings): EventBody[] {
  if (JSON.stringify(settings) === JSON.stringify(thread.log.state.settings)) return [];
  return [{ type: "thread/settings/updated", data: { threadId: thread.id, settings } }];
}

function textInput(text: string): UserInput {
  return { type: "text", text };
}
