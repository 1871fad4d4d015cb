import type { PermissionOption } from "@agentclientprotocol/sdk";
import {
  type Approval,
  type Decision,
  describePermission,
  describeRule,
  type RuleSuggestion,
} from "@flint/protocol";
import { PermissionResponse } from "../vocabulary.ts";

const RULE_PREFIX = "allow_always:";

const NOT_UNDERSTOOD: Decision = {
  outcome: "deny",
  scope: "once",
  message: "The client's answer was not understood.",
};
const REJECTED: Decision = { outcome: "deny", scope: "once", message: "The user rejected it." };

/** The decision that each option stands for, by its id. */
const DECISIONS: ReadonlyMap<string, Decision> = new Map<string, Decision>([
  ["allow_once", { outcome: "allow", scope: "once" }],
  ["allow_always", { outcome: "allow", scope: "always" }],
  ["reject_once", REJECTED],
  ["reject_always", REJECTED],
]);

/** The options of a permission request. An option that grants more than this action describes what it covers. */
export function permissionOptions({ action, suggestions = [] }: Approval): PermissionOption[] {
  return [
    { optionId: "allow_once", name: "Allow", kind: "allow_once" },
    // A menu of an editor has no room for each of them twice, for this agent and for all.
    ...suggestions.filter(({ agent }) => agent !== undefined).map(ruleOption),
    ...alwaysOption(action),
    { optionId: "reject_once", name: "Reject", kind: "reject_once" },
    { optionId: "reject_always", name: "Reject for this session", kind: "reject_always" },
  ];
}

/**
 * Returns the text of a question beside the action itself: what it needs beyond its sandbox, the reason, and
 * the agent's words.
 */
export function questionText({ needs, reason = "", why = "" }: Approval["action"]): string {
  const question = needs === undefined ? "" : `Allow it to ${describePermission(needs)}?`;
  const said = why === "" ? "" : `The agent says: ${why}`;
  return [question, reason, said].filter((line) => line !== "").join("\n");
}

/** Leaving the sandbox and connecting to any host are never allowed for always. */
function alwaysOption({ needs }: Approval["action"]): PermissionOption[] {
  if (needs?.unconfined === true || needs?.network === "all") return [];
  const name = needs === undefined ? "exactly this" : `it to ${describePermission(needs)}`;
  return [{ optionId: "allow_always", name: `Always allow ${name}`, kind: "allow_always" }];
}

/** ACP has no option for a session, so an option stands for as long as its suggestion may be accepted for. */
function longestScope({ scopes = ["always"] }: RuleSuggestion): "session" | "always" {
  return scopes.includes("always") ? "always" : "session";
}

function ruleOption(suggestion: RuleSuggestion): PermissionOption {
  const words = describeRule(suggestion);
  return {
    optionId: `${RULE_PREFIX}${suggestion.id}`,
    name:
      longestScope(suggestion) === "always"
        ? `Always allow the agent to ${words}`
        : `Allow the agent to ${words}, in this session`,
    kind: "allow_always",
  };
}

/** The decision in a client's response. Anything but an offered option that allows is a denial. */
export function decisionOf(response: unknown, suggestions: Approval["suggestions"] = []): Decision {
  const chosen = optionOf(response);
  if (chosen === undefined) return NOT_UNDERSTOOD;
  if (chosen === "cancelled") return { outcome: "cancel", scope: "once", message: "The user cancelled it." };
  if (chosen.startsWith(RULE_PREFIX)) {
    const rule = chosen.slice(RULE_PREFIX.length);
    const offered = suggestions.find(({ id }) => id === rule);
    return offered === undefined ? NOT_UNDERSTOOD : { outcome: "allow", scope: longestScope(offered), rule };
  }
  return DECISIONS.get(chosen) ?? NOT_UNDERSTOOD;
}

/** Reports whether a response rejects the action for the whole session. */
export function isRejectAlways(response: unknown): boolean {
  return optionOf(response) === "reject_always";
}

/** The id of the chosen option, or `cancelled`, which is not an option. */
export function optionOf(response: unknown): string | undefined {
  const parsed = PermissionResponse.safeParse(response);
  if (!parsed.success) return undefined;
  const { outcome, optionId } = parsed.data.outcome;
  if (outcome === "cancelled") return "cancelled";
  return outcome === "selected" && typeof optionId === "string" ? optionId : undefined;
}
