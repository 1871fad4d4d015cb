import {
  type Action,
  type Allowance,
  type ApprovalPolicy,
  describePermission,
  type Grant,
  type Permission,
} from "@flint/protocol";
import type { PolicyRules, RuleDecision } from "../ports/index.ts";
import { hasHiddenCharacters } from "../text/characters.ts";
import { isAskedEachTime } from "./grants.ts";
import { NO_NETWORK } from "./network-gate.ts";
import { isTrustedCommand } from "./trusted-commands.ts";

/** The decision of the policy about an action, before the user is asked. */
export type PolicyDecision =
  | { readonly kind: "allow"; readonly allowance: Allowance }
  /** `warning` is shown even if the agent gave its own reason. */
  | { readonly kind: "ask"; readonly reason: string; readonly warning?: string }
  | { readonly kind: "deny"; readonly reason: string };

/** Everything that a decision depends on. */
export interface PolicyInput {
  readonly approvalPolicy: ApprovalPolicy;
  readonly action: Action;
  /** True if it was allowed before, for the thread or by a rule. */
  readonly granted: boolean;
  /** The grants that allow it, to name them. */
  readonly grants?: readonly Pick<Grant, "scope" | "words">[] | undefined;
  /** True if the sandbox keeps the command from writing. */
  readonly onlyReads?: boolean | undefined;
  /** True if commands that stay in the sandbox need no approval. */
  readonly acceptsCommands?: boolean | undefined;
  /** False if the commands of the thread connect to nothing, and nothing is asked about it. */
  readonly hasNetwork?: boolean | undefined;
  /** True if it needs no more than the sandbox gives without an approval. */
  readonly staysInside?: boolean | undefined;
  /** True if it only changes files that need no approval. */
  readonly isAcceptedEdit?: boolean | undefined;
  /** The decision of the policy file about it. */
  readonly ruleDecision?: RuleDecision | undefined;
  /** The policy file, if there is one. */
  readonly policyRules?: Pick<PolicyRules, "unanswered" | "source"> | undefined;
}

const HIDDEN = "It contains characters that cannot be seen.";

/**
 * Decides whether an action is allowed, asked about or denied. Pure. A rule of the policy file is more specific than
 * the approval policy, so it comes first: what it denies never happens, what it asks about is asked even under `never`,
 * and what it allows counts as granted, even under `always`. Actions with hidden characters are never granted.
 */
export function judge(input: PolicyInput): PolicyDecision {
  const { approvalPolicy, action, ruleDecision } = input;
  const { needs } = action;
  if (ruleDecision?.decision === "deny") return { kind: "deny", reason: ruleDecision.reason };
  if (ruleDecision?.decision === "ask")
    return { kind: "ask", reason: ruleDecision.reason, ...warningFor(action) };
  const granted = input.granted || (ruleDecision?.decision === "allow" && !isAskedEachTime(action));
  if (input.hasNetwork === false && wantsNetwork(needs) && !granted)
    return { kind: "deny", reason: NO_NETWORK };
  if (approvalPolicy === "never") return judgeUnattended(input, granted);
  if (isHidden(action)) return unanswered(input, { kind: "ask", reason: HIDDEN, warning: HIDDEN });
  if (granted) return { kind: "allow", allowance: grantedBy(input) };
  if (input.isAcceptedEdit === true) return bySetting("Edits in the workspace need no approval.");
  if (approvalPolicy === "always") {
    return unanswered(input, { kind: "ask", reason: "Every action needs approval." });
  }
  if (approvalPolicy === "onRequest" && input.staysInside === true)
    return bySetting("It stays in the sandbox.");
  const harmless = needs === undefined ? harmlessBecause(input) : undefined;
  if (harmless !== undefined) return bySetting(harmless);
  return unanswered(input, { kind: "ask", reason: reasonFor(action) });
}

/** The reason a command needs no approval; undefined if it does. */
function harmlessBecause({ action, onlyReads, acceptsCommands }: PolicyInput): string | undefined {
  if (action.kind !== "command") return undefined;
  if (onlyReads === true) return "The sandbox prevents writing.";
  if (acceptsCommands === true) return "Commands in the sandbox need no approval.";
  return isTrustedCommand(action.command) ? "The command is known to be read-only." : undefined;
}

function bySetting(reason: string): PolicyDecision {
  return { kind: "allow", allowance: { by: "setting", reason } };
}

const GRANTED = {
  once: "You allowed it once",
  session: "You allowed it for this thread",
  always: "A saved rule allows it",
} as const;

/** Names the rule of the policy file that allows an action, or else the grants of the user. */
function grantedBy({ ruleDecision, grants = [] }: PolicyInput): Allowance {
  if (ruleDecision?.decision === "allow") return { by: "policyFile", reason: ruleDecision.reason };
  const sentences = grants.map(({ scope, words }) => `${GRANTED[scope]}: ${words}.`);
  return { by: "grant", reason: sentences.join(" ") || "You allowed it before." };
}

function wantsNetwork({ network = "none" }: Permission = {}): boolean {
  return network !== "none";
}

/** Without approvals the sandbox is the limit; what goes beyond it has to be allowed beforehand. */
function judgeUnattended(input: PolicyInput, granted: boolean): PolicyDecision {
  const { action } = input;
  const { needs } = action;
  if (granted && !isHidden(action)) return { kind: "allow", allowance: grantedBy(input) };
  if (needs === undefined) return bySetting("Approvals are off.");
  const reason = `Approvals are off, so it may not ${describePermission(needs)}. ${optionFor(needs)}`;
  return { kind: "deny", reason };
}

/** The option that would have allowed it. */
function optionFor({ network, write, git, unconfined }: Permission): string {
  if (unconfined === true)
    return "Allow it with a policy file rule that has this exact command and unconfined = true.";
  const options = [
    ...(typeof network === "object" ? [`--network ${network.hosts.map(withoutWebPort).join(",")}`] : []),
    ...(network === "all" ? ["--network all"] : []),
    ...(write ?? []).map((path) => `--add-dir ${path}`),
    ...(git === true ? ["--git auto"] : []),
  ];
  return `Allow it with ${options.join(" ")}.`;
}

function withoutWebPort(host: string): string {
  return host.replace(/:443$/, "");
}

/** Leaves the decision to the user, unless the policy file declines what it does not mention. */
function unanswered({ policyRules }: PolicyInput, decision: PolicyDecision): PolicyDecision {
  if (policyRules?.unanswered !== "decline") return decision;
  const { source } = policyRules;
  return { kind: "deny", reason: `No rule of ${source} allows it; add one, or set unanswered = "ask".` };
}

function warningFor(action: Action): { warning?: string } {
  return isHidden(action) ? { warning: HIDDEN } : {};
}

function isHidden(action: Action): boolean {
  return hasHiddenCharacters(subjectOf(action));
}

/** The subject of an action, in one line. */
export function subjectOf(action: Action): string {
  switch (action.kind) {
    case "command":
      return action.command;
    case "fileChange":
      return action.changes
        .map(({ path, movePath }) => (movePath === undefined ? path : `${path} -> ${movePath}`))
        .join(", ");
    case "tool":
      return action.server === undefined ? action.tool : `${action.server}/${action.tool}`;
  }
}

function reasonFor(action: Action): string {
  if (action.needs !== undefined) return `It wants to ${describePermission(action.needs)}.`;
  switch (action.kind) {
    case "command":
      return "The command is not known to be read-only.";
    case "fileChange":
      return "File changes need approval.";
    case "tool":
      return "The tool is not known to be read-only.";
  }
}
