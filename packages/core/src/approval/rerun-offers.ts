import { type Action, grantKeys } from "@flint/protocol";

/** Remembers which actions were offered to run again with what they need, so that a thread offers the same only once. */
export class RerunOffers {
  readonly #offered = new Set<string>();

  /** Whether an action may be put to the user: any that has not run before, and one that has for the first time only. */
  admit(action: Action): boolean {
    if (action.after === undefined) return true;
    const key = JSON.stringify(grantKeys(action));
    const isFirst = !this.#offered.has(key);
    this.#offered.add(key);
    return isFirst;
  }
}
