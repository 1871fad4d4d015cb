import type { Price } from "@flint/agent/prices";
import {
  type Clock,
  type DriverEvent,
  stoppableTurn,
  type TurnContext,
  type TurnOutcome,
} from "@flint/core/ports";
import type { UserInput } from "@flint/protocol";
import type { CodexNotification, CodexServerCall } from "@flint/protocol/codex";
import { withEstimate } from "../shared/agent.ts";
import type { GrantedPermissions } from "./permissions.ts";
import type { CodexServer, CodexTiming } from "./process/server.ts";
import { answerServerRequest } from "./server-requests.ts";
import { inputOf } from "./settings.ts";
import { SubAgents } from "./sub-agents.ts";
import { adoptTurn, beginTurn, type Step, step, type TranslateState } from "./translate.ts";

/** Dependencies of a turn. */
export interface CodexTurnOptions {
  readonly server: CodexServer;
  readonly threadId: string;
  readonly clock: Clock;
  readonly timing: CodexTiming;
  /** The tokens that the thread has used before. */
  readonly totalTokens: number;
  /** Returns the price of a model, if it is known; without a name the model of the turn. */
  priceOf?(model: string | undefined): Price | undefined;
  readonly granted: GrantedPermissions;
}

/** The number of notifications that may come before the response to the start of the turn. */
const MAX_EARLY = 10_000;

const INTERRUPTED: TurnOutcome = { status: "interrupted" };

/** One turn at Codex. Ends exactly once: completed by Codex, stopped, or with the process. */
export class CodexTurn {
  /** Resolves with how the turn ended; rejects if it could not begin. */
  readonly outcome: Promise<TurnOutcome>;
  /** Permissions that the user granted to all commands that follow. */
  readonly granted: GrantedPermissions;
  readonly #turn: TurnContext;
  readonly #options: CodexTurnOptions;
  /** Aborted with the turn: what was granted once ends with it. */
  readonly #over = new AbortController();
  #state: TranslateState;
  #hasEnded = false;
  /** Notifications that came before the id of the turn was known. */
  readonly #early: CodexNotification[] = [];
  readonly #subAgents: SubAgents;
  /** The id to interrupt the turn with; that of a review differs from the one in all other notifications (0.166.0). */
  #startedId: string | undefined;
  #resolve: (outcome: TurnOutcome) => void = () => {};
  #reject: (reason: unknown) => void = () => {};
  #resolveTurnId: (turnId: string | undefined) => void = () => {};
  /** Codex's id of the turn; undefined if it ends before there is one. */
  readonly #turnId: Promise<string | undefined>;

  /** `signal` stops the turn; it is also aborted when the session is closed. */
  constructor(turn: TurnContext, options: CodexTurnOptions, signal: AbortSignal) {
    this.#turn = stoppableTurn(turn, signal);
    this.#options = options;
    this.granted = options.granted;
    this.#state = beginTurn(turn.settings.cwd, turn.kind, options.totalTokens);
    this.#subAgents = new SubAgents({
      ...{ server: options.server, cwd: turn.settings.cwd },
      emit: (event, model) => this.#emit(event, model),
      answer: (call, state) => this.#answer(call, state),
      ended: () => this.#settle(),
    });
    this.#turnId = new Promise((resolve) => {
      this.#resolveTurnId = resolve;
    });
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    signal.addEventListener("abort", () => void this.#stop(), { once: true });
    void options.server.ended.then(() => this.#onServerEnd());
  }

  /** Codex's id of the turn, once it is known. */
  get nativeId(): string | undefined {
    return this.#state.turnId;
  }

  /** Reports whether a command can be run with more than the sandbox allows. */
  get canGrant(): boolean {
    return this.#options.server.broker !== undefined;
  }

  /** The tokens that the thread has used so far. */
  get totalTokens(): number {
    return this.#state.totalTokens;
  }

  /** The usage limits of the account, as the process of this turn tells them. Never rejects. */
  rateLimits(): ReturnType<CodexServer["rateLimits"]> {
    return this.#options.server.rateLimits();
  }

  /** Begins the turn; `start` resolves with its id if the response has one. A failure rejects the outcome. */
  async begin(start: () => Promise<string | undefined>): Promise<void> {
    try {
      const turnId = await start();
      if (turnId !== undefined) this.#adopt(turnId);
    } catch (thrown) {
      // The end of the process ends the turn with its last lines; anything else is why it did not begin.
      if (this.#options.server.isRunning) this.#end(() => this.#reject(thrown));
    }
  }

  notification(notification: CodexNotification): void {
    if (this.#hasEnded) return;
    if (notification.method === "turn/started") this.#startedId = notification.params.turn.id;
    if (isEarly(this.#state, notification)) {
      if (this.#early.length < MAX_EARLY) this.#early.push(notification);
      return;
    }
    if (this.#isOwn(notification) && this.#subAgents.observe(notification)) return;
    this.#advance(step(this.#state, notification));
    this.#replayEarly();
    if (this.#state.turnId !== undefined) this.#resolveTurnId(this.#state.turnId);
    this.#settle();
  }

  #isOwn({ params }: CodexNotification): boolean {
    return "turnId" in params && params.turnId === this.#state.turnId;
  }

  /**
   * Ends the turn if Codex has ended it. One that is complete, or that is being stopped, continues until its sub-agents
   * are done, so that whatever they do and use belongs to a turn.
   */
  #settle(): void {
    const { outcome } = this.#state;
    const { aborted } = this.#turn.signal;
    if (outcome === undefined) return;
    if (this.#subAgents.areWorking && (aborted || outcome.status === "completed")) return;
    this.#finish(aborted ? INTERRUPTED : outcome);
  }

  /** Answers a request of Codex; rejects once the turn has ended. */
  async call(call: CodexServerCall): Promise<object> {
    // Earlier notifications are handled first, and one of them may be the end.
    await this.#turnId;
    return this.#answer(call, () => this.#state);
  }

  async #answer(call: CodexServerCall, state: () => TranslateState): Promise<object> {
    if (this.#hasEnded) throw new Error("No turn is running in this thread.");
    const { broker } = this.#options.server;
    const signal = AbortSignal.any([this.#turn.signal, this.#over.signal]);
    const granting = broker === undefined ? undefined : { broker, signal };
    const { granted } = this;
    return answerServerRequest(call, { turn: this.#turn, state, granting, granted });
  }

  /** Adds input. False if the turn takes no more. */
  async steer(input: readonly UserInput[]): Promise<boolean> {
    const expectedTurnId = await this.#turnId;
    if (expectedTurnId === undefined || this.#hasEnded || this.#state.outcome !== undefined) return false;
    const { server, threadId } = this.#options;
    const params = { threadId, expectedTurnId, input: inputOf(input, this.#turn.settings.cwd) };
    return server.request("turn/steer", params).then(
      () => true,
      () => false,
    );
  }

  /** Interrupts the turn. If that takes too long, the whole process is stopped, so that nothing of the turn continues. */
  async #stop(): Promise<void> {
    const { server, threadId, clock, timing } = this.#options;
    const cancel = clock.after(timing.stop, () => {
      void server.close().then(() => this.#finish(INTERRUPTED));
    });
    this.outcome.then(cancel, cancel);
    this.#subAgents.interrupt();
    const turnId = await this.#turnId;
    if (turnId === undefined || this.#hasEnded) return;
    for (const id of new Set([turnId, this.#startedId ?? turnId])) {
      // Codex does not respond if the turn has ended in the meantime.
      server.request("turn/interrupt", { threadId, turnId: id }, timing.stop).catch(() => undefined);
    }
  }

  async #onServerEnd(): Promise<void> {
    if (this.#hasEnded) return;
    if (this.#turn.signal.aborted) return this.#finish(INTERRUPTED);
    const { message } = await this.#options.server.failure();
    this.#finish({ status: "failed", error: { message, errorInfo: "AgentFailed" } });
  }

  #adopt(turnId: string): void {
    if (this.#hasEnded) return;
    this.#state = adoptTurn(this.#state, turnId);
    this.#resolveTurnId(turnId);
    this.#replayEarly();
  }

  #replayEarly(): void {
    if (this.#state.turnId === undefined) return;
    for (const notification of this.#early.splice(0)) this.notification(notification);
  }

  #advance([state, events]: Step): void {
    this.#state = state;
    for (const event of events) this.#emit(event, undefined);
  }

  #emit(event: DriverEvent, model: string | undefined): void {
    this.#turn.emit(withEstimate(event, this.#options.priceOf?.(model)));
  }

  #finish(outcome: TurnOutcome): void {
    this.#end(() => this.#resolve(outcome));
  }

  #end(settle: () => void): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#subAgents.close();
    this.#over.abort();
    this.granted.endTurn();
    this.#resolveTurnId(undefined);
    settle();
  }
}

/** Reports whether a notification is about some turn while the id of this one is not known yet. */
function isEarly({ turnId }: TranslateState, { method, params }: CodexNotification): boolean {
  return turnId === undefined && method !== "turn/started" && ("turnId" in params || "turn" in params);
}
