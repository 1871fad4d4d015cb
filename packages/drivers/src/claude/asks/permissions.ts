import type { Action, ApprovalPolicy, Decision, FileUpdateChange } from "@flint/protocol";
import type { ClaudePermission, ClaudeToolAsk } from "@flint/protocol/claude";
import { textField } from "../fields.ts";
import { isBookkeeping, isHarmless, mcpNames, toolKind } from "../translate/tool-names.ts";

/** What is told to Claude when nobody says why not. */
const DECLINED = "The user declined this. Do not try it again in another way; ask what to do instead.";

/** What a hook answers so that Claude asks, also where it would not have. */
const ASK = {
  hookSpecificOutput: {
    hookEventName: "PreToolUse",
    permissionDecision: "ask",
    permissionDecisionReason: "Flint's approval policy decides.",
  },
} as const;

/** What the hook before each tool says. What may change something always comes before Flint's own policy. */
export function hookAnswer(toolName: string, policy: ApprovalPolicy): Readonly<Record<string, unknown>> {
  const isAsked = policy === "always" ? !isBookkeeping(toolName) : !isHarmless(toolName);
  return isAsked ? ASK : { continue: true };
}

/** What Claude wants to do, in Flint's words. */
export function actionOf(
  ask: ClaudeToolAsk,
  itemId: string,
  cwd: string,
  changes: readonly FileUpdateChange[] | undefined,
): Action {
  const { tool_name: name, input } = ask;
  const common = { itemId, ...reasonOf(ask) };
  switch (toolKind(name)) {
    case "command":
      return { kind: "command", ...common, command: textField(input, "command") ?? "", cwd };
    case "file":
      if (changes !== undefined) return { kind: "fileChange", ...common, changes: [...changes] };
      return { kind: "tool", ...common, tool: name, arguments: input };
    case "mcp":
      return { kind: "tool", ...common, ...mcpNames(name), arguments: input };
    case "search":
    case "plan":
    case "answer":
    case "other":
      return { kind: "tool", ...common, tool: name, arguments: input };
  }
}

/**
 * The answer as Claude wants it. Claude's own suggestions are never taken: each would allow more than what was shown,
 * and what is allowed for longer than once Flint remembers itself.
 */
export function permissionOf(decision: Decision, input: ClaudeToolAsk["input"]): ClaudePermission {
  switch (decision.outcome) {
    case "allow":
      return { behavior: "allow", updatedInput: input };
    case "deny":
      return { behavior: "deny", message: decision.message ?? DECLINED, interrupt: false };
    case "cancel":
      return { behavior: "deny", message: decision.message ?? "The user stopped the turn.", interrupt: true };
  }
}

/** What the agent itself says about why; that a hook wants it asked is no reason for a person. */
function reasonOf({ description, decision_reason, decision_reason_type, input }: ClaudeToolAsk): {
  reason?: string;
} {
  const reason = decision_reason_type === "hook" ? description : (decision_reason ?? description);
  const isNews = reason != null && reason !== "" && reason !== textField(input, "command");
  return isNews ? { reason } : {};
}
