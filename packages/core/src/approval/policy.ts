import { isAbsolute, relative, resolve } from "node:path";
import { type Action, type ApprovalPolicy, describePermission } from "@flint/protocol";
import type { PolicyRules, Ruling } from "../ports/index.ts";
import { hasHiddenCharacters } from "../text/characters.ts";
import type { Actor } from "./grants.ts";
import { isTrustedCommand } from "./trusted-commands.ts";

/** What the policy decides about an action before the user is asked. */
export type Verdict =
  | { readonly kind: "allow" }
  /** `warning` is shown even if the agent gave its own reason. */
  | { readonly kind: "ask"; readonly reason: string; readonly warning?: string }
  | { readonly kind: "deny"; readonly reason: string };

/** Everything that a verdict depends on. */
export interface PolicyInput {
  readonly approvalPolicy: ApprovalPolicy;
  readonly action: Action;
  /** Whether it was allowed before, for the thread or by a rule. */
  readonly granted: boolean;
  /** Whether the sandbox keeps the command from writing. */
  readonly onlyReads?: boolean | undefined;
  /** Whether it only changes files that need no approval. */
  readonly isAcceptedEdit?: boolean | undefined;
  /** What the policy file decides about it. */
  readonly ruling?: Ruling | undefined;
  /** The policy file, if there is one. */
  readonly policyRules?: Pick<PolicyRules, "unanswered" | "source"> | undefined;
}

const UNATTENDED: Verdict = {
  kind: "deny",
  reason:
    "Approvals are off, so nothing beyond the sandbox is allowed. Allow it beforehand, for example with --network HOST.",
};

const HIDDEN = "It contains characters that cannot be seen.";

/**
 * Decides whether an action is allowed, asked about or denied. Pure. A rule of the policy file is more specific than
 * the approval policy, so it comes first: what it denies never happens, what it asks about is asked even under `never`,
 * and what it allows counts as granted, even under `always`. Actions with hidden characters are never granted.
 */
export function judge(input: PolicyInput): Verdict {
  const { approvalPolicy, action, ruling, granted } = input;
  if (ruling?.decision === "deny") return { kind: "deny", reason: ruling.reason };
  if (ruling?.decision === "ask") return { kind: "ask", reason: ruling.reason, ...warningFor(action) };
  if (approvalPolicy === "never")
    return action.needs === undefined || granted ? { kind: "allow" } : UNATTENDED;
  if (isHidden(action)) return unanswered(input, { kind: "ask", reason: HIDDEN, warning: HIDDEN });
  if (granted || ruling?.decision === "allow") return { kind: "allow" };
  if (input.isAcceptedEdit === true) return { kind: "allow" };
  if (approvalPolicy === "always") {
    return unanswered(input, { kind: "ask", reason: "Every action is asked about." });
  }
  if (
    action.kind === "command" &&
    action.needs === undefined &&
    (input.onlyReads === true || isTrustedCommand(action.command))
  ) {
    return { kind: "allow" };
  }
  return unanswered(input, { kind: "ask", reason: reasonFor(action) });
}

/**
 * Whether an action only changes files of the workspace. Hidden files are left out: among them are those that configure
 * agents, editors, shells and version control.
 */
export function isWorkspaceEdit(
  action: Action,
  { project, realPath }: Pick<Actor, "project" | "realPath">,
): boolean {
  if (action.kind !== "fileChange" || action.needs !== undefined) return false;
  const paths = action.changes.flatMap(({ path, movePath }) =>
    movePath === undefined ? [path] : [path, movePath],
  );
  return paths.length > 0 && paths.every((path) => isPlainPathIn(realPath(resolve(project, path)), project));
}

function isPlainPathIn(path: string, folder: string): boolean {
  const inside = relative(folder, path);
  return inside !== "" && !isAbsolute(inside) && inside.split("/").every((name) => !name.startsWith("."));
}

/** Leaves the decision to the user, unless the policy file declines what it does not mention. */
function unanswered({ policyRules }: PolicyInput, verdict: Verdict): Verdict {
  if (policyRules?.unanswered !== "decline") return verdict;
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
        .flatMap(({ path, movePath }) => (movePath === undefined ? [path] : [`${path} -> ${movePath}`]))
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
