import { errorMessage, type TaskState } from "@flint/protocol";
import { accountsOf, type ReportedAccount } from "../accounts.ts";
import { asking, type DecisionContext, type Events, event } from "../decide/decision.ts";
import { fail } from "../decide/finish.ts";
import { afterLost } from "../decide/run.ts";
import { due, nextDue, nextRecovery, waitForReport, waitReason } from "../schedule.ts";
import type { TaskStore } from "../store/task-store.ts";

/** The dependencies of a scheduler. */
export interface SchedulerOptions {
  readonly store: TaskStore;
  readonly context: () => DecisionContext;
  readonly leaseMs: number;
  /** Changes within this time are looked at together. */
  readonly gatherMs?: number | undefined;
  /** The accounts at a limit that threads have met. */
  readonly reported?: (() => Promise<readonly ReportedAccount[]>) | undefined;
  /** Called when tasks may run that were ready before, because the limit of their account is over. */
  onRecovery?(): void;
  onProblem(message: string): void;
}

const RETRY_MS = 10_000;
/** Interval of checking whether an account works again before its reset, which no task reports. */
const REPORT_CHECK_MS = 300_000;
const LONGEST_TIMER_MS = 3_600_000;

/** Moves tasks on that wait for a time, for other tasks, or for a worker that is gone. Has one timer, and none if nothing waits. */
export class TaskScheduler {
  readonly #options: SchedulerOptions;
  readonly #unsubscribe: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** Time of the reset of an account that tasks wait for. */
  #recovery: number | undefined;
  #ticking: Promise<void> | undefined;
  #again = false;
  #isStopped = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#unsubscribe = options.store.subscribe(() => this.wake());
  }

  /** Reports whether a task is due at a later time. */
  get isWaiting(): boolean {
    return this.#timer !== undefined;
  }

  /** Looks at everything once more. */
  wake(): void {
    if (this.#isStopped) return;
    this.#again = true;
    this.#ticking ??= this.#tickAll();
  }

  /** Tasks were not taken because of a limit: calls `onRecovery` even if that is over before the next look. */
  watchRecovery(): void {
    this.#recovery ??= 0;
    this.wake();
  }

  /** Resolves once it has looked at everything that it was woken for. */
  async settled(): Promise<void> {
    await this.#ticking;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#unsubscribe();
    clearTimeout(this.#timer);
    await this.settled();
  }

  async #tickAll(): Promise<void> {
    // Expected: the store cannot be written, such as on a full disk; it is tried again later.
    try {
      while (this.#again && !this.#isStopped) {
        this.#again = false;
        await this.#tick();
        await this.#gather();
      }
    } catch (thrown) {
      this.#options.onProblem(errorMessage(thrown));
      this.#wakeAfter(RETRY_MS);
    } finally {
      // In the same tick as the last check, so that a later call starts a new pass instead of being lost.
      this.#ticking = undefined;
    }
  }

  async #gather(): Promise<void> {
    const { gatherMs = 0 } = this.#options;
    if (gatherMs > 0) await new Promise((resolve) => setTimeout(resolve, gatherMs));
  }

  async #tick(): Promise<void> {
    const { store, context } = this.#options;
    for (const { task, fence } of await store.sweep()) {
      const state = await store.read(task);
      if (state !== undefined) await this.#commit(state, afterLost(state, fence, context()));
    }
    const tasks = await store.list();
    const { now } = context();
    for (const state of due(tasks, now))
      await this.#commit(state, [event("task/resumed", { by: "scheduler" })]);
    const byId = new Map(tasks.map((state) => [state.id, state]));
    for (const state of tasks)
      if (state.phase === "waiting") await this.#commit(state, this.#released(state, byId, context()));
    const outside = await this.#options.reported?.();
    this.#setTimer(await store.list(), now, outside);
  }

  #released(state: TaskState, byId: ReadonlyMap<string, TaskState>, context: DecisionContext): Events {
    const kept = waitReason(state, (id) => byId.get(id), context.now);
    if (kept === undefined) return [event("task/released", {})];
    if (typeof kept === "string") return [];
    const message =
      kept.failed === 0
        ? "A task that it depends on was removed."
        : `Task ${kept.failed}, which it depends on, is not done.`;
    return state.spec.onDependencyFailed === "fail"
      ? fail(message)
      : [asking(context, "dependency", message)];
  }

  async #commit(state: TaskState, events: Events): Promise<void> {
    if (events.length > 0)
      await this.#options.store.commit({ task: state.id, expect: state.version, events });
  }

  #setTimer(tasks: readonly TaskState[], now: number, outside?: readonly ReportedAccount[]): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const accounts = accountsOf(tasks, outside);
    const recovery = nextRecovery(tasks, accounts, now);
    if (this.#recovery !== undefined && this.#recovery !== recovery) this.#options.onRecovery?.();
    this.#recovery = recovery;
    const running = tasks.some(({ run }) => run !== undefined);
    const next = Math.min(
      nextDue(tasks) ?? Number.POSITIVE_INFINITY,
      recovery ?? Number.POSITIVE_INFINITY,
      waitForReport(tasks, accounts, now) ? now + REPORT_CHECK_MS : Number.POSITIVE_INFINITY,
      running ? now + this.#options.leaseMs : Number.POSITIVE_INFINITY,
    );
    if (next === Number.POSITIVE_INFINITY || this.#isStopped) return;
    this.#wakeAfter(Math.min(Math.max(next - now, 10), LONGEST_TIMER_MS));
  }

  #wakeAfter(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.wake(), milliseconds);
    this.#timer.unref();
  }
}
