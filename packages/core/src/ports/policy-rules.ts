import type { Action } from "@flint/protocol";

/** What a rule says about an action, and which rule it is. */
export interface Ruling {
  readonly decision: "allow" | "ask" | "deny";
  /** Names the rule and where it stands. */
  readonly reason: string;
}

/** Rules that were written down before the run, for when nobody is there to answer. */
export interface PolicyRules {
  /** The strictest thing any rule says about the action; undefined if none mentions it. Must not throw. */
  judge(action: Action, agent: string, cwd: string): Ruling | undefined;
  /** What becomes of an action that no rule mentions and that would be asked about: it is, or it is declined at once. */
  readonly unanswered: "ask" | "decline";
  /** Where the rules stand, for messages. */
  readonly source: string;
}
