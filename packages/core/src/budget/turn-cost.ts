import type { Cost } from "@flint/protocol";

/**
 * Adds up what one turn has cost. A reported cost replaces the estimates before it: an agent that reports late reports
 * the cost of all its calls since its last report.
 */
export class TurnCost {
  #reported: Cost | undefined;
  /** The estimated cost of the calls since the last report. */
  #estimate: Cost | undefined;

  /** Counts a model call; undefined where nothing is known. */
  add(cost: Cost | undefined, estimate: Cost | undefined): void {
    if (cost !== undefined) {
      this.#reported = sum(this.#reported, cost);
      this.#estimate = undefined;
    } else if (estimate !== undefined) this.#estimate = sum(this.#estimate, estimate);
  }

  /** Counts what the whole turn has cost so far, by the agent's own count. */
  soFar(cost: Cost): void {
    const reported = this.#reported?.currency === cost.currency ? this.#reported.amount : 0;
    const amount = cost.amount - reported;
    if (amount > (this.#estimate?.amount ?? 0)) this.#estimate = { ...cost, amount };
  }

  /** The cost of the turn; undefined if it is unknown. */
  get total(): Cost | undefined {
    if (this.#estimate === undefined) return this.#reported;
    const { currency } = this.#estimate;
    if (this.#reported !== undefined && this.#reported.currency !== currency) return this.#reported;
    const amount = (this.#reported?.amount ?? 0) + this.#estimate.amount;
    return { amount, currency, estimated: true };
  }
}

function sum(left: Cost | undefined, right: Cost): Cost {
  return left?.currency === right.currency ? { ...right, amount: left.amount + right.amount } : right;
}

/** Reports whether an amount of money is plausible: agents may report any number. */
export function isPossibleCost(cost: Cost | undefined): boolean {
  return cost === undefined || (Number.isFinite(cost.amount) && cost.amount >= 0);
}
