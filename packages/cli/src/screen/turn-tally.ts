import { addUsage, type Cost, isKnownItem, NO_USAGE, type ThreadItem, totalTokens } from "@flint/protocol";
import type { AgentEvent } from "@flint/sdk";

/** What a turn has used and changed so far. */
export class TurnTally {
  readonly #files = new Set<string>();
  /** What the thread had cost before this turn, which does not count. */
  costBefore: Cost | undefined;
  #usage = NO_USAGE;
  #cost: Cost | undefined;

  /** All tokens of the turn. */
  get tokens(): number {
    return totalTokens(this.#usage);
  }

  /** What the turn costs, if the agent says. */
  get cost(): Cost | undefined {
    if (this.#cost === undefined) return undefined;
    const before = this.costBefore?.currency === this.#cost.currency ? this.costBefore.amount : 0;
    return { amount: Math.max(0, this.#cost.amount - before), currency: this.#cost.currency };
  }

  /** How many files were changed. */
  get files(): number {
    return this.#files.size;
  }

  /** Counts what an event tells. */
  count(event: AgentEvent): void {
    if (event.type === "thread/tokenUsage/updated") {
      this.#usage = addUsage(this.#usage, event.data.last);
      this.#cost = event.data.cost ?? this.#cost;
    }
    if (event.type === "item/completed") this.#countFiles(event.data.item);
  }

  #countFiles(item: ThreadItem): void {
    if (!isKnownItem(item) || item.type !== "fileChange" || item.status !== "completed") return;
    for (const { path } of item.changes) this.#files.add(path);
  }
}
