import type { PlanEntry } from "@flint/protocol";
import type { ModelPart } from "../models/model.ts";

/** Reports what happens in one turn, in order, and hands out the ids of its items. */
export interface TurnReporter {
  /** Reports usage with this context size from now on. */
  setWindow(modelContextWindow: number): void;
  /** Reports one part of a model's response. */
  part(part: ModelPart): void;
  /** Reports the whole plan as it is now; the id is for its item if this is the first plan of the turn. */
  plan(itemId: string, explanation: string, entries: readonly PlanEntry[]): void;
  /** Completes whatever is still open. */
  end(): void;
  /** Returns an id for an item that is reported elsewhere. */
  takeItemId(): string;
}
