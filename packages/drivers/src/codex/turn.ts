import { type Clock, stoppableTurn, type TurnContext, type TurnOutcome } from "@flint/core/ports";
import type { UserInput } from "@flint/protocol";
import type { CodexNotification, CodexServerCall } from "@flint/protocol/codex";
import { answerCall } from "./asks/asks.ts";
import type { CodexServer } from "./process/server.ts";
import type { CodexTiming } from "./process/timing.ts";
import { inputOf } from "./settings.ts";
import { adoptTurn, beginTurn, type Step, step, type TranslateState } from "./translate.ts";

/** Where a turn runs. */
export interface TurnPlace {
  readonly server: CodexServer;
  readonly threadId: string;
  readonly clock: Clock;
  readonly timing: CodexTiming;
  /** Tokens that the thread used before. */
  readonly totalTokens: number;
}

/** What comes with the answer to the start is read before the answer is. */
const MOST_EARLY = 10_000;

const INTERRUPTED: TurnOutcome = { status: "interrupted" };

/** One turn at Codex, from its start to its one end: by itself, by being stopped, or by the death of the process. */
export class RunningTurn {
  /** How it ended; rejects if it could not be begun. */
  readonly outcome: Promise<TurnOutcome>;
  readonly #turn: TurnContext;
  readonly #place: TurnPlace;
  #state: TranslateState;
  #hasEnded = false;
  readonly #early: CodexNotification[] = [];
  /** The name by which Codex stops the turn; that of a review is another one than all else is told by (0.166.0). */
  #startedId: string | undefined;
  #settle: (outcome: TurnOutcome) => void = () => {};
  #fail: (reason: unknown) => void = () => {};
  #knowTurnId: (turnId: string | undefined) => void = () => {};
  /** Codex's id of the turn; undefined if it ends before there is one. */
  readonly #turnId: Promise<string | undefined>;

  /** `signal` stops it, as closing the session does too. */
  constructor(turn: TurnContext, place: TurnPlace, signal: AbortSignal) {
    this.#turn = stoppableTurn(turn, signal);
    this.#place = place;
    this.#state = beginTurn(turn.settings.cwd, turn.kind, place.totalTokens);
    this.#turnId = new Promise((resolve) => {
      this.#knowTurnId = resolve;
    });
    this.outcome = new Promise((resolve, reject) => {
      this.#settle = resolve;
      this.#fail = reject;
    });
    signal.addEventListener("abort", () => void this.#stop(), { once: true });
    void place.server.ended.then(() => this.#onDeath());
  }

  /** The name by which Codex tells of the turn, once that is known. */
  get nativeId(): string | undefined {
    return this.#state.turnId;
  }

  /** Tokens that the thread used so far. */
  get totalTokens(): number {
    return this.#state.totalTokens;
  }

  /** Asks Codex to begin; `start` gives the id of the turn if that is told. A turn that cannot be begun rejects. */
  async begin(start: () => Promise<string | undefined>): Promise<void> {
    try {
      const turnId = await start();
      if (turnId !== undefined) this.#adopt(turnId);
    } catch (thrown) {
      // A death is told as the end of the turn, with the last words; anything else is why it did not begin.
      if (this.#place.server.isRunning) this.#end(() => this.#fail(thrown));
    }
  }

  notification(notification: CodexNotification): void {
    if (this.#hasEnded) return;
    if (notification.method === "turn/started") this.#startedId = notification.params.turn.id;
    if (isBeforeBegin(this.#state, notification)) {
      if (this.#early.length < MOST_EARLY) this.#early.push(notification);
      return;
    }
    this.#advance(step(this.#state, notification));
    this.#replay();
    if (this.#state.turnId !== undefined) this.#knowTurnId(this.#state.turnId);
    const { outcome } = this.#state;
    if (outcome !== undefined) this.#finish(this.#turn.signal.aborted ? INTERRUPTED : outcome);
  }

  /** Answers what Codex asks in this turn; rejects once it has ended. */
  async call(call: CodexServerCall): Promise<object> {
    // What was told before it is read first, and that may be the end.
    await this.#turnId;
    if (this.#hasEnded) throw new Error("No turn runs in this thread.");
    return answerCall(call, { turn: this.#turn, state: () => this.#state });
  }

  /** Adds input. False if the turn takes no more. */
  async steer(input: readonly UserInput[]): Promise<boolean> {
    const expectedTurnId = await this.#turnId;
    if (expectedTurnId === undefined || this.#hasEnded) return false;
    const { server, threadId } = this.#place;
    const params = { threadId, expectedTurnId, input: inputOf(input, this.#turn.settings.cwd) };
    return server.request("turn/steer", params).then(
      () => true,
      () => false,
    );
  }

  /** A turn that does not stop in time is stopped with its process: nothing of it may go on. */
  async #stop(): Promise<void> {
    const { server, threadId, clock, timing } = this.#place;
    const cancel = clock.after(timing.stop, () => {
      void server.close().then(() => this.#finish(INTERRUPTED));
    });
    this.outcome.then(cancel, cancel);
    const turnId = await this.#turnId;
    if (turnId === undefined || this.#hasEnded) return;
    const known = new Set([turnId, this.#startedId ?? turnId]);
    for (const each of known) {
      // A turn that ended in the meantime is never answered for.
      server.request("turn/interrupt", { threadId, turnId: each }, timing.stop).catch(() => undefined);
    }
  }

  async #onDeath(): Promise<void> {
    if (this.#hasEnded) return;
    if (this.#turn.signal.aborted) return this.#finish(INTERRUPTED);
    const { message } = await this.#place.server.failure();
    this.#finish({ status: "failed", error: { message, errorInfo: "AgentFailed" } });
  }

  #adopt(turnId: string): void {
    if (this.#hasEnded) return;
    this.#state = adoptTurn(this.#state, turnId);
    this.#knowTurnId(turnId);
    this.#replay();
  }

  /** Tells what came before it was known which turn it is of. */
  #replay(): void {
    if (this.#state.turnId === undefined) return;
    for (const notification of this.#early.splice(0)) this.notification(notification);
  }

  #advance([state, events]: Step): void {
    this.#state = state;
    for (const event of events) this.#turn.emit(event);
  }

  #finish(outcome: TurnOutcome): void {
    this.#end(() => this.#settle(outcome));
  }

  #end(settle: () => void): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#knowTurnId(undefined);
    settle();
  }
}

function isBeforeBegin({ turnId }: TranslateState, { method, params }: CodexNotification): boolean {
  return turnId === undefined && method !== "turn/started" && ("turnId" in params || "turn" in params);
}
