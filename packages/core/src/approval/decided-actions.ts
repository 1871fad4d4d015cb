import {
  type Action,
  type Allowance,
  type Approval,
  asksForPermissionOnly,
  type Decision,
  type DeclinedAction,
  declinedSubject,
  MAX_DECLINED,
  type ResolvedBy,
} from "@flint/protocol";

const ANSWERS = {
  once: "The user allowed it once.",
  session: "The user allowed it for this thread.",
  always: "The user allowed it always.",
} as const;

/** The decisions on the actions of each running turn, with their reasons. */
export class DecidedActions {
  readonly #declined = new Map<string, DeclinedAction[]>();
  /** By turn, then by item. */
  readonly #allowed = new Map<string, Map<string, Allowance>>();

  /** Notes what allowed the action of an item. The first decision is about the item; later ones are about parts of it. */
  noteAllowed(turnId: string, action: Action, allowance: Allowance): void {
    if (asksForPermissionOnly(action)) return;
    const ofTurn = this.#allowed.get(turnId) ?? new Map<string, Allowance>();
    if (!ofTurn.has(action.itemId)) ofTurn.set(action.itemId, allowance);
    this.#allowed.set(turnId, ofTurn);
  }

  /** Notes that something was not allowed, by a rule or a setting unless it says otherwise. */
  noteDeclined(turnId: string, action: Action, reason: string, by: ResolvedBy = "rule"): void {
    const noted = this.#declined.get(turnId) ?? [];
    if (noted.length >= MAX_DECLINED) return;
    const own = action.kind === "tool" && action.forItself === true ? { forItself: true } : {};
    this.#declined.set(turnId, [
      ...noted,
      { itemId: action.itemId, what: declinedSubject(action), reason, by, ...own },
    ]);
  }

  /** Notes how a request for approval was answered. */
  noteAnswer({ turnId, action }: Approval, decision: Decision, by: ResolvedBy): void {
    if (decision.outcome === "allow")
      this.noteAllowed(turnId, action, { by: "client", reason: ANSWERS[decision.scope] });
    else this.noteDeclined(turnId, action, decision.message ?? "The user declined it.", by);
  }

  /**
   * Returns the allowance of an item's action; undefined if nothing was decided about it, or it was declined.
   */
  allowanceOf(turnId: string, itemId: string): Allowance | undefined {
    return this.#allowed.get(turnId)?.get(itemId);
  }

  /** Returns what was not allowed in a turn that ends, and forgets the turn. */
  endTurn(turnId: string): readonly DeclinedAction[] {
    const noted = this.#declined.get(turnId) ?? [];
    this.#declined.delete(turnId);
    this.#allowed.delete(turnId);
    return noted;
  }
}
