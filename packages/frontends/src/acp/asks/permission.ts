import type { PermissionOption } from "@agentclientprotocol/sdk";
import { type Approval, type Decision, describeRule, type RuleSuggestion } from "@flint/protocol";
import { PermissionAnswer } from "../vocabulary.ts";

const ALLOW_ONCE = "allow_once";
const ALLOW_ALWAYS = "allow_always";
const REJECT_ONCE = "reject_once";
const REJECT_ALWAYS = "reject_always";
const RULE_PREFIX = `${ALLOW_ALWAYS}:`;

const NOT_UNDERSTOOD: Decision = {
  outcome: "deny",
  scope: "once",
  message: "The client's answer was not understood.",
};

/** What the user may answer. A rule that covers more than exactly this says what it covers. */
export function permissionOptions({ suggestions = [] }: Approval): PermissionOption[] {
  return [
    { optionId: ALLOW_ONCE, name: "Allow", kind: "allow_once" },
    ...suggestions.map(ruleOption),
    { optionId: ALLOW_ALWAYS, name: "Always allow exactly this", kind: "allow_always" },
    { optionId: REJECT_ONCE, name: "Reject", kind: "reject_once" },
    { optionId: REJECT_ALWAYS, name: "Never in this session", kind: "reject_always" },
  ];
}

function ruleOption(suggestion: RuleSuggestion): PermissionOption {
  return {
    optionId: `${RULE_PREFIX}${suggestion.id}`,
    name: `Always allow ${describeRule(suggestion)}`,
    kind: "allow_always",
  };
}

/** What a client's answer means. Whatever is not plainly a yes is a no, also one that takes a rule nobody offered. */
export function decisionOf(answer: unknown, suggestions: Approval["suggestions"] = []): Decision {
  const chosen = optionOf(answer);
  if (chosen === undefined) return NOT_UNDERSTOOD;
  if (chosen === "cancelled") return { outcome: "cancel", scope: "once", message: "The user cancelled it." };
  if (chosen.startsWith(RULE_PREFIX)) {
    const rule = chosen.slice(RULE_PREFIX.length);
    const isOffered = suggestions.some(({ id }) => id === rule);
    return isOffered ? { outcome: "allow", scope: "always", rule } : NOT_UNDERSTOOD;
  }
  switch (chosen) {
    case ALLOW_ONCE:
      return { outcome: "allow", scope: "once" };
    case ALLOW_ALWAYS:
      return { outcome: "allow", scope: "always" };
    case REJECT_ONCE:
    case REJECT_ALWAYS:
      return { outcome: "deny", scope: "once", message: "The user rejected it." };
    default:
      return NOT_UNDERSTOOD;
  }
}

/** Whether an answer is a no that holds for the session. */
export function remembersNo(answer: unknown): boolean {
  return optionOf(answer) === REJECT_ALWAYS;
}

/** The option that was chosen, or `cancelled`, which is no option of ours. */
export function optionOf(answer: unknown): string | undefined {
  const parsed = PermissionAnswer.safeParse(answer);
  if (!parsed.success) return undefined;
  const { outcome, optionId } = parsed.data.outcome;
  if (outcome === "cancelled") return "cancelled";
  return outcome === "selected" && typeof optionId === "string" ? optionId : undefined;
}
