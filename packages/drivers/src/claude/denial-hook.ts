import type { TurnContext } from "@flint/core/ports";
import type { ClaudeHookInput } from "@flint/protocol/claude";
import { stringField } from "../shared/json.ts";

const AFTER_TOOL: readonly string[] = ["PostToolUse", "PostToolUseFailure"];

/** Reports whether Claude calls the hook after a tool, not before it. */
export function isAfterTool({ hook_event_name: event }: ClaudeHookInput): boolean {
  return AFTER_TOOL.includes(event ?? "");
}

/** The response of the hook after a command: what the model has to know if the sandbox stopped it. */
export async function denialHookResponse(
  input: ClaudeHookInput,
  turn: TurnContext,
  tools: { knownItem(toolUseId: string): string | undefined },
): Promise<Readonly<Record<string, unknown>>> {
  const itemId = tools.knownItem(input.tool_use_id ?? "");
  const { exitCode, output } = resultOf(input);
  const text = itemId === undefined ? undefined : await turn.explainCommand?.(itemId, exitCode, output);
  if (text === undefined) return { continue: true };
  return { hookSpecificOutput: { hookEventName: input.hook_event_name, additionalContext: text } };
}

/** A command that failed has its exit code in the first line of the error (2.1.197). */
function resultOf({ error, tool_response: response }: ClaudeHookInput) {
  if (typeof error === "string") {
    const exitCode = Number(/^Exit code (\d{1,3})\b/.exec(error)?.[1] ?? 1);
    return { exitCode, output: error };
  }
  const printed = [stringField(response, "stdout"), stringField(response, "stderr")];
  return { exitCode: 0, output: printed.filter((part) => part !== undefined).join("\n") };
}
