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
import { lockedLimit, type SettingsLocks } from "../settings/settings-locks.ts";
import type { ThreadLog } from "../thread/log.ts";
import {
  type CheckedLimits,
  foreignCost,
  missingReport,
  type ReportedUnit,
  unknownCost,
} from "./enforcement.ts";
import {
  budgetAnswer,
  budgetError,
  budgetQuestion,
  describeLimit,
  type Limits,
  largestExtension,
  lockedBudgetError,
  type ReachedLimit,
  reachedOf,
  sanitizedUsage,
  type Unit,
  usageOfThread,
} from "./limits.ts";
import { isPossibleCost, TurnCost } from "./turn-cost.ts";
import { WorkClock } from "./work-clock.ts";

/** The parts of its turn that a guard uses. */
export interface BudgetGuardOptions {
  readonly threadId: string;
  readonly turnId: string;
  readonly log: ThreadLog;
  readonly requests: OpenRequests;
  readonly clock: Clock;
  /** Limits that an administrator has locked: the user cannot extend them. */
  readonly locks?: SettingsLocks | undefined;
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
  /** The number of calls that it is about; absent: one. */
  readonly calls?: number;
  readonly cost?: Cost;
  readonly estimate?: Cost | undefined;
}

/**
 * Keeps one turn within its budget and that of its thread. When a limit is used up, the turn is held at its next step
 * and the user is asked; if no client is there, or the answer is no, the turn ends.
 */
export class BudgetGuard {
  readonly #options: BudgetGuardOptions;
  readonly #work: WorkClock;
  readonly #usage = { tokens: 0, steps: 0 };
  readonly #cost = new TurnCost();
  /** Cost of the thread before this turn, in dollars. */
  readonly #costBefore: number;
  /** The amounts by which the user extended the limits of this turn, and of its thread during this turn. */
  readonly #extended: Record<ReachedLimit["scope"], Partial<Record<Unit, number>>> = { turn: {}, thread: {} };
  #asking: Promise<void> | undefined;
  #closed = false;
  /** The reasons of the warnings that were sent; each is sent once. */
  readonly #warned = new Set<string>();
  /** True if a model call without a cost ends the turn when the cost is limited. */
  #requiresCost = false;
  #isStrict = false;
  #usesPrices = false;
  #dueAtEnd: CheckedLimits["dueAtEnd"] = [];
  #hasReportedTokens = false;

  constructor(options: BudgetGuardOptions) {
    this.#options = options;
    this.#work = new WorkClock(options.clock);
    this.#costBefore = usageOfThread(options.log.state).costUsd ?? 0;
    this.#check();
  }

  /** The cost of the turn so far; undefined if it is unknown. */
  get cost(): Cost | undefined {
    return this.#cost.total;
  }

  /** The time for which the turn has waited for the user. */
  get waitedMs(): number {
    return this.#work.waitedMs;
  }

  /** Begins with what was found out about the limits. */
  begin(limits: CheckedLimits | undefined): void {
    for (const notice of limits?.notices ?? []) this.#warn(notice, "budgetCheckedLate");
    this.#requiresCost = limits?.requiresCost === true;
    this.#isStrict = limits?.isStrict === true;
    this.#dueAtEnd = limits?.dueAtEnd ?? [];
    this.#usesPrices = limits?.usesPrices === true;
  }

  /** The usage of a model call without amounts that cannot be, such as negative ones. */
  possible<Call extends CallUsage>(call: Call): Call {
    const last = sanitizedUsage(call.last);
    const { cost, ...free } = call;
    if (last === call.last && isPossibleCost(cost)) return call;
    this.#warnOnce("The agent reported negative usage; it counts as zero.", "impossibleUsage");
    // Without its cost it is still a call of the same kind.
    const known = (isPossibleCost(cost) ? call : free) as Call;
    return { ...known, last };
  }

  /** Counts a model call. */
  used({ last, calls = 1, cost, estimate }: CallUsage): void {
    this.#hasReportedTokens = true;
    this.#usage.tokens += Math.max(0, totalTokens(last));
    this.#usage.steps += calls;
    this.#cost.add(cost, estimate);
    if (cost !== undefined && cost.currency !== "USD") this.#onForeignCost(cost.currency);
    if (this.#requiresCost && cost === undefined && estimate === undefined && totalTokens(last) > 0)
      this.#stopUnknownCost();
    this.#checkSoon();
  }

  /** Counts what the turn has cost so far, by the agent's own count. */
  costSoFar(cost: Cost): void {
    if (isPossibleCost(cost)) this.#cost.soFar(cost);
    if (cost.currency !== "USD") this.#onForeignCost(cost.currency);
    this.#checkSoon();
  }

  /**
   * Reports whether the agent of a completed turn reported what its limits count, by unit: only units that it
   * should have reported by now, and only where that is certain.
   */
  reportedUnits(): ReadonlyMap<ReportedUnit, boolean> {
    const used = this.#usage.tokens > 0;
    const units = this.#dueAtEnd.map(({ unit }) => unit);
    const known = units.filter((unit) => this.#isReported(unit) || (unit === "costUsd" && used));
    return new Map(known.map((unit) => [unit, this.#isReported(unit)]));
  }

  /** The error of a completed turn for which a limit was not kept, because its agent did not report enough. */
  unkept(): TurnError | undefined {
    const missing = this.#dueAtEnd.find(({ unit }) => !this.#isReported(unit));
    const { model } = this.#options.log.state.settings;
    return missing === undefined ? undefined : missingReport(missing, model, this.#usesPrices);
  }

  /** No cost of a call that used tokens is not a price of nothing: agents report zero for models whose price they lack. */
  #isReported(unit: ReportedUnit): boolean {
    if (unit !== "costUsd") return this.#hasReportedTokens;
    return this.#dollars > 0 || (this.#hasReportedTokens && this.#usage.tokens === 0);
  }

  /** Warns about limits that the turn went beyond: what an agent reports at its end comes too late to stop it. */
  reportOverrun(): void {
    const over = this.#reached().filter(({ used, limit, unit }) => used > limit && unit !== "seconds");
    for (const reached of over) this.#warn(`The turn exceeded ${describeLimit(reached)}.`, "budgetOverrun");
  }

  /** Undefined if the turn may continue; otherwise resolves when it may, or when it is over. Never rejects. */
  budgetAvailable(): Promise<void> | undefined {
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

  /** Later, because the end of the turn may follow at once, and then there is nothing to ask. */
  #checkSoon(): void {
    setImmediate(() => this.#check());
  }

  get #dollars(): number {
    const { total } = this.#cost;
    return total?.currency === "USD" ? total.amount : 0;
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
    const costUsd = this.#dollars;
    // The number of turns is checked before a turn starts, not during it.
    const { turns: _turns, ...all } = {
      ...ofThread,
      costUsd: this.#costBefore + costUsd,
      seconds: (ofThread.seconds ?? 0) + seconds,
    };
    return [
      ...reachedOf("turn", turn, this.#extended.turn, { ...this.#usage, costUsd, seconds }),
      ...reachedOf("thread", thread, this.#threadExtension, all),
    ];
  }

  get #threadExtension(): Limits {
    return largestExtension(this.#budget.extended, this.#extended.thread);
  }

  /** Amount of work after which the next time limit is used up; undefined if there is none. */
  #nextSecondsMs(): number | undefined {
    const { turn, thread } = this.#budget;
    const earlierMs = this.#options.log.state.workedMs;
    const ofTurn = largestExtension(turn, this.#extended.turn).seconds;
    const ofThread = largestExtension(thread, this.#threadExtension).seconds;
    const ends: number[] = [];
    if (turn?.seconds !== undefined && ofTurn !== undefined) ends.push(ofTurn * 1_000);
    if (thread?.seconds !== undefined && ofThread !== undefined) ends.push(ofThread * 1_000 - earlierMs);
    return ends.length === 0 ? undefined : Math.min(...ends);
  }

  async #ask(all: readonly ReachedLimit[]): Promise<void> {
    const { log, requests, turnId } = this.#options;
    const reached = all.map((one) => this.#withinLock(one));
    const locked = reached.find(({ amount }) => amount <= 0);
    if (locked !== undefined) return this.#stopLocked(locked);
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

  /** With as much as an answer can add without going beyond what the administrator locked. */
  #withinLock(reached: ReachedLimit): ReachedLimit {
    const locked = this.#lockOf(reached);
    if (locked === undefined) return reached;
    return { ...reached, amount: Math.min(reached.amount, locked.limit - reached.used) };
  }

  #lockOf({ scope, unit }: ReachedLimit) {
    return lockedLimit(this.#options.locks, scope, unit);
  }

  #stopLocked(reached: ReachedLimit): void {
    if (this.#closed) return;
    this.close();
    this.#options.exceeded(lockedBudgetError(reached, this.#lockOf(reached)?.source));
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

  get #limitsCost(): boolean {
    const { turn, thread } = this.#budget;
    return (turn?.costUsd ?? thread?.costUsd) !== undefined;
  }

  #stopUnknownCost(): void {
    if (this.#closed || !this.#limitsCost) return;
    this.close();
    this.#options.exceeded(unknownCost(this.#options.log.state.settings.model));
  }

  #stopForeignCost(currency: string): void {
    if (this.#closed) return;
    this.close();
    this.#options.exceeded(foreignCost(currency, this.#options.log.state.settings.model));
  }

  #onForeignCost(currency: string): void {
    if (!this.#limitsCost) return;
    const message = `The agent reports its cost in ${currency}; the limit in dollars does not count it.`;
    if (this.#isStrict) this.#stopForeignCost(currency);
    else this.#warnOnce(message, "budgetCurrency");
  }

  #warnOnce(message: string, reason: string): void {
    if (!this.#warned.has(reason)) this.#warn(message, reason);
    this.#warned.add(reason);
  }

  #warn(message: string, reason: string): void {
    const { log, threadId } = this.#options;
    log.sendLive({ type: "warning", data: { threadId, message, reason } });
  }
}
