import type { TurnReporter } from "@flint/agent/loop";
import type { ModelPart } from "@flint/agent/model";
import type { TurnContext } from "@flint/core/ports";
import type { PlanEntry } from "@flint/protocol";
import {
  beginTurn,
  endTurn,
  type Step,
  showPlan,
  step,
  type TranslateState,
  takeItemId,
} from "./translate.ts";

/** Emits what happens in one turn, in order, and hands out the ids of its items. */
export class TurnReport implements TurnReporter {
  readonly #turn: TurnContext;
  #state: TranslateState;

  constructor(turn: TurnContext) {
    this.#turn = turn;
    this.#state = beginTurn(turn.turnId);
  }

  /** Reports usage with this context size from now on. */
  setWindow(modelContextWindow: number): void {
    this.#state = { ...this.#state, modelContextWindow };
  }

  /** Reports one part of a model's response. */
  part(part: ModelPart): void {
    this.#advance(step(this.#state, part));
  }

  /** Reports the whole plan as it is now; the id is for its item if this is the first plan of the turn. */
  plan(itemId: string, explanation: string, entries: readonly PlanEntry[]): void {
    this.#advance(showPlan(this.#state, itemId, explanation, entries));
  }

  /** Completes whatever is still open. */
  end(): void {
    this.#advance(endTurn(this.#state));
  }

  /** Returns an id for an item that is reported elsewhere. */
  takeItemId(): string {
    const [state, id] = takeItemId(this.#state);
    this.#state = state;
    return id;
  }

  #advance([state, events]: Step): void {
    this.#state = state;
    for (const event of events) this.#turn.emit(event);
  }
}
