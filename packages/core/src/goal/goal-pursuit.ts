import { asFlintError, type EventBody, type Goal } from "@flint/protocol";
import type { Clock } from "../ports/index.ts";
import type { SettingsLocks } from "../settings/settings-locks.ts";
import type { ThreadLog } from "../thread/log.ts";
import { decideTurn, type StartedTurn } from "../turn/decisions.ts";
import { ended, type GoalStep, goalStep } from "./goal-step.ts";

/** Functions that start the turns of a pursuit. */
export interface TurnStarters {
  prompt(turn: StartedTurn): void;
  shell(turn: StartedTurn): void;
}

/** Continues a thread towards its goal, turn by turn, until it is reached, a limit is, or a turn does not complete. */
export class GoalPursuit {
  readonly #log: ThreadLog;
  readonly #clock: Clock;
  readonly #locks: SettingsLocks | undefined;

  constructor(log: ThreadLog, clock: Clock, locks?: SettingsLocks) {
    this.#log = log;
    this.#clock = clock;
    this.#locks = locks;
  }

  /** Reports whether the end of a turn may lead to another one, or to the end of the goal. */
  get isActive(): boolean {
    const { goal } = this.#log.state;
    return goal?.status === "active" && goal.pursuit !== undefined;
  }

  /** Takes the next step, if no turn runs. Never rejects. */
  async step(start: TurnStarters): Promise<void> {
    if (this.#log.state.activeTurnId !== undefined) return;
    const step = goalStep(this.#log.state);
    if (step === undefined) return;
    try {
      await this.#take(step, start);
    } catch (thrown) {
      // Expected: the budget of the thread is used up, its settings are locked, or the log cannot be written, which the
      // next request reports.
      const { goal } = this.#log.state;
      const { kind, message } = asFlintError(thrown);
      const stopped = goal && ended(goal, kind === "invalidParams" ? "blocked" : "budgetLimited", message);
      if (stopped?.do === "end") await this.#log.commit([this.#event(stopped.goal)]).catch(() => undefined);
    }
  }

  async #take(step: GoalStep, start: TurnStarters): Promise<void> {
    const { state } = this.#log;
    if (step.do === "end") return this.#log.commit([this.#event(step.goal)]);
    const isCheck = step.do === "check";
    const text = isCheck ? step.command : step.text;
    const request = {
      kind: isCheck ? "shell" : "prompt",
      input: [{ type: "text", text }],
      forGoal: isCheck ? "check" : "prompt",
    } as const;
    const { events, started } = decideTurn(state, request, this.#clock.now(), this.#locks);
    await this.#log.commit(isCheck ? events : [this.#event(step.goal), ...events]);
    if (isCheck) start.shell(started);
    else start.prompt(started);
  }

  #event(goal: Goal): EventBody {
    const updatedAt = Math.floor(this.#clock.now() / 1000);
    const data = { threadId: this.#log.state.thread.id, goal: { ...goal, updatedAt } };
    return { type: "thread/goal/updated", data };
  }
}
