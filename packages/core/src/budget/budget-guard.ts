import {
  type Budget,
  type Cost,
  mintId,
  type TokenUsage,
  type TurnError,
  totalTokens,
} from "@flint/protocol";
import type { OpenRequests } from "../approval/open-requests.ts";
import type { Clock } from "../ports/index.ts";
import type { ThreadLog } from "../thread/log.ts";
import {
  budgetAnswer,
  budgetError,
  budgetQuestion,
  furthest,
  type Limits,
  type ReachedLimit,
  reachedOf,
  type Unit,
  usageOfThread,
} from "./limits.ts";

/** What a guard needs of its turn. */
export interface BudgetGuardOptions {
  readonly threadId: string;
  readonly turnId: string;
  readonly log: ThreadLog;
  readonly requests: OpenRequests;
  readonly clock: Clock;
  /** Ends the turn for this reason. */
  exceeded(error: TurnError): void;
  /** The question could not be stored. */
  onError(error: unknown): void;
  /** Stores how far the user extended the thread's limits. */
  extendThread(extended: Limits): void;
}

/** The usage of one model call. */
export interface CallUsage {
  readonly last: TokenUsage;
  readonly cost?: Cost;
}

/**
 * Keeps one turn within its budget and that of its thread. When a limit is used up, the turn is held at its next step
 * and the user is asked; if no client is there, or the answer is no, the turn ends.
 */
export class BudgetGuard {
  readonly #options: BudgetGuardOptions;
  readonly #work: WorkClock;
  readonly #usage = { tokens: 0, costUsd: 0, steps: 0 };
  /** How far the user extended the limits of this turn, and of its thread during this turn. */
  readonly #extended: Record<ReachedLimit["scope"], Partial<Record<Unit, number>>> = { turn: {}, thread: {} };
  #asking: Promise<void> | undefined;
  #closed = false;
  #hasWarnedCurrency = false;

  constructor(options: BudgetGuardOptions) {
    this.#options = options;
    this.#work = new WorkClock(options.clock);
    this.#check();
  }

  /** How long the turn has waited for the user. */
  get waitedMs(): number {
    return this.#work.waitedMs;
  }

  /** Counts a model call. */
  used({ last, cost }: CallUsage): void {
    this.#usage.tokens += totalTokens(last);
    this.#usage.steps += 1;
    if (cost?.currency === "USD") this.#usage.costUsd += cost.amount;
    else if (cost !== undefined) this.#warnCurrency(cost.currency);
    // Later, because the end of the turn may follow at once, and then there is nothing to ask.
    setImmediate(() => this.#check());
  }

  /** Undefined if the turn may continue; otherwise resolves when it may, or when it is over. Never rejects. */
  held(): Promise<void> | undefined {
    this.#check();
    return this.#asking === undefined ? undefined : this.#released();
  }

  /** Runs something that waits for the user; that time does not count. */
  waiting<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.#work.waiting(work);
  }

  /** To be called when the turn is over. */
  close(): void {
    this.#closed = true;
    this.#work.alarm(undefined, () => {});
  }

  async #released(): Promise<void> {
    while (this.#asking !== undefined) await this.#asking;
  }

  get #budget(): Budget {
    return this.#options.log.state.settings.budget ?? {};
  }

  #check(): void {
    if (this.#closed || this.#asking !== undefined) return;
    const reached = this.#reached();
    if (reached.length > 0) {
      this.#asking = this.#work
        .waiting(() => this.#ask(reached))
        .finally(() => {
          this.#asking = undefined;
          this.#check();
        });
      return;
    }
    this.#work.alarm(this.#nextSecondsMs(), () => this.#check());
  }

  #reached(): ReachedLimit[] {
    const { turn, thread } = this.#budget;
    const seconds = this.#work.workedMs / 1_000;
    const ofThread = usageOfThread(this.#options.log.state);
    // The number of turns is checked before a turn starts, not during it.
    const { turns: _turns, ...all } = { ...ofThread, seconds: (ofThread.seconds ?? 0) + seconds };
    return [
      ...reachedOf("turn", turn, this.#extended.turn, { ...this.#usage, seconds }),
      ...reachedOf("thread", thread, this.#threadExtension, all),
    ];
  }

  get #threadExtension(): Limits {
    return furthest(this.#budget.extended, this.#extended.thread);
  }

  /** After how much work the next time limit is used up; undefined if there is none. */
  #nextSecondsMs(): number | undefined {
    const { turn, thread } = this.#budget;
    const earlierMs = this.#options.log.state.workedMs;
    const ofTurn = furthest(turn, this.#extended.turn).seconds;
    const ofThread = furthest(thread, this.#threadExtension).seconds;
    const ends: number[] = [];
    if (turn?.seconds !== undefined && ofTurn !== undefined) ends.push(ofTurn * 1_000);
    if (thread?.seconds !== undefined && ofThread !== undefined) ends.push(ofThread * 1_000 - earlierMs);
    return ends.length === 0 ? undefined : Math.min(...ends);
  }

  async #ask(reached: readonly ReachedLimit[]): Promise<void> {
    const { log, requests, turnId } = this.#options;
    if (log.state.settings.approvalPolicy === "never") return this.#stop(reached, "approvals are off.");
    if (log.subscriberCount === 0) return this.#stop(reached, "no client was connected to ask.");
    try {
      const answer = budgetAnswer(await requests.question(turnId, mintId(), [budgetQuestion(reached)]));
      if (answer === "continue") this.#extend(reached);
      else this.#stop(reached, answer === "stop" ? "you chose to stop." : "there was no answer.");
    } catch (error) {
      // Expected: the question cannot be stored.
      this.close();
      this.#options.onError(error);
    }
  }

  #extend(reached: readonly ReachedLimit[]): void {
    for (const { scope, unit, used, amount } of reached) this.#extended[scope][unit] = used + amount;
    if (reached.some(({ scope }) => scope === "thread")) this.#options.extendThread(this.#extended.thread);
  }

  #stop(reached: readonly ReachedLimit[], why: string): void {
    if (this.#closed) return;
    this.close();
    this.#options.exceeded(budgetError(reached, why));
  }

  #warnCurrency(currency: string): void {
    const { log, threadId } = this.#options;
    const { turn, thread } = this.#budget;
    if (this.#hasWarnedCurrency || (turn?.costUsd ?? thread?.costUsd) === undefined) return;
    this.#hasWarnedCurrency = true;
    const message = `The agent reports its cost in ${currency}; the limit in dollars does not count it.`;
    log.sendLive({ type: "warning", data: { threadId, message, reason: "budgetCurrency" } });
  }
}

/** Measures how long a turn works; time spent waiting for the user does not count. */
export class WorkClock {
  readonly #clock: Clock;
  readonly #startedAt: number;
  #waitedMs = 0;
  #waits = 0;
  #waitingSince = 0;
  #alarm: { readonly afterMs: number; readonly action: () => void } | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAt = clock.now();
  }

  get waitedMs(): number {
    return this.#waitedMs + (this.#waits > 0 ? this.#clock.now() - this.#waitingSince : 0);
  }

  get workedMs(): number {
    return this.#clock.now() - this.#startedAt - this.waitedMs;
  }

  /** Runs something that waits for the user. */
  async waiting<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#waits === 0) this.#waitingSince = this.#clock.now();
    this.#waits += 1;
    this.#schedule();
    try {
      return await work();
    } finally {
      if (this.#waits === 1) this.#waitedMs = this.waitedMs;
      this.#waits -= 1;
      this.#schedule();
    }
  }

  /** Calls `action` after this much work, in place of the alarm before. */
  alarm(workedMs: number | undefined, action: () => void): void {
    this.#alarm = workedMs === undefined ? undefined : { afterMs: workedMs, action };
    this.#schedule();
  }

  #schedule(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#alarm === undefined || this.#waits > 0) return;
    const { afterMs, action } = this.#alarm;
    this.#cancelTimer = this.#clock.after(Math.max(0, afterMs - this.workedMs), action);
  }
}
