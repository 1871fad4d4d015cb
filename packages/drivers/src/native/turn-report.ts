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

/** Tells what happens in one turn, in order, and gives out the ids of its items. */
export class TurnReport implements TurnReporter {
  readonly #turn: TurnContext;
  #state: TranslateState;

  constructor(turn: TurnContext) {
    this.#turn = turn;
    this.#state = beginTurn(turn.turnId);
  }

  /** From now on usage is told with the size of this context. */
  setWindow(modelContextWindow: number): void {
    this.#state = { ...this.#state, modelContextWindow };
  }

  /** Tells what a part of a model's answer means. */
  part(part: ModelPart): void {
    this.#advance(step(this.#state, part));
  }

  /** Tells the whole plan as it is now; the id is for its item if this is the first of the turn. */
  plan(itemId: string, explanation: string, entries: readonly PlanEntry[]): void {
    this.#advance(showPlan(this.#state, itemId, explanation, entries));
  }

  /** What is still open is complete. */
  end(): void {
    this.#advance(endTurn(this.#state));
  }

  /** An id for an item that somebody else tells about. */
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
