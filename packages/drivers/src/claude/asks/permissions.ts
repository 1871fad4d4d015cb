import type {
  Action,
  Answers,
  ApprovalPolicy,
  Decision,
  FileUpdateChange,
  UserQuestion,
} from "@flint/protocol";
import type { ClaudePermission, ClaudeToolAsk } from "@flint/protocol/claude";
import { type JsonObject, listOf, objectOf, stringField } from "../../shared/json.ts";
import { isBookkeeping, isReadOnly, mcpNames, toolKind } from "../translate/tools.ts";

/** What Claude is sent when a decision gives no reason. */
const DECLINED = "The user declined this. Do not try it again in another way; ask what to do instead.";

/** The hook response that makes Claude ask, also where it would not have. */
const ASK = {
  hookSpecificOutput: {
    hookEventName: "PreToolUse",
    permissionDecision: "ask",
    permissionDecisionReason: "Flint's approval policy decides.",
  },
} as const;

/** The response of the hook before each tool. Whatever may change something has to pass Flint's own policy. */
export function hookResponse(toolName: string, policy: ApprovalPolicy): Readonly<Record<string, unknown>> {
  const isAsked = policy === "always" ? !isBookkeeping(toolName) : !isReadOnly(toolName);
  return isAsked ? ASK : { continue: true };
}

/** The action that Claude requests approval for. */
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
      return { kind: "command", ...common, command: stringField(input, "command") ?? "", cwd };
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
 * A decision as Claude's permission. Claude's own suggestions are never used: each would allow more than what was shown,
 * and Flint itself keeps what is allowed for longer than once.
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

/** Claude's own reason. That a hook wants the user asked is not a reason for the user. */
function reasonOf({ description, decision_reason, decision_reason_type, input }: ClaudeToolAsk): {
  reason?: string;
} {
  const reason = decision_reason_type === "hook" ? description : (decision_reason ?? description);
  const isUseful = reason != null && reason !== "" && reason !== stringField(input, "command");
  return isUseful ? { reason } : {};
}

/** The tool with which Claude asks the user. */
export const ASK_USER = "AskUserQuestion";

/** The questions in the input of that tool. */
export function questionsOf({ questions }: JsonObject): UserQuestion[] {
  return listOf(questions).map((question, index) => {
    const header = stringField(question, "header");
    const options = listOf(objectOf(question).options).map(optionOf);
    return {
      id: String(index + 1),
      question: stringField(question, "question") ?? "",
      ...(header === undefined ? {} : { header }),
      ...(options.length === 0 ? {} : { options }),
      ...(objectOf(question).multiSelect === true ? { multiple: true } : {}),
    };
  });
}

/** The input of that tool with the answers in it, by the text of each question; undefined if there is no answer. */
export function answeredInput(input: JsonObject, answers: Answers): JsonObject | undefined {
  const given = questionsOf(input).flatMap(({ id, question }) => {
    const chosen = answers[id]?.answers ?? [];
    return chosen.length === 0 ? [] : [[question, chosen.join(", ")] as const];
  });
  return given.length === 0 ? undefined : { ...input, answers: Object.fromEntries(given) };
}

function optionOf(option: unknown): { label: string; description?: string } {
  const label = stringField(option, "label") ?? "";
  const description = stringField(option, "description");
  return description === undefined ? { label } : { label, description };
}
