import type { Action } from "@flint/protocol";

/** What a rule decides about an action, and which rule it is. */
export interface Ruling {
  readonly decision: "allow" | "ask" | "deny";
  /** Names the rule and where it is written. */
  readonly reason: string;
}

/** Rules of a policy file, for unattended runs. */
export interface PolicyRules {
  /** The strictest decision of any rule about the action; undefined if none matches. Must not throw. */
  judge(action: Action, agent: string, cwd: string): Ruling | undefined;
  /** Whether an action that no rule matches and that needs approval is asked about or declined. */
  readonly unanswered: "ask" | "decline";
  /** Where the rules are written, for messages. */
  readonly source: string;
}
