import type { Message, ModelPart, ModelRequest, ToolResult } from "@flint/agent/model";
import { OfflineModel } from "../offline-model.ts";

/** A tool by its name. */
export const tool = (name: string, parameters: ModelRequest["tools"][number]["parameters"] = {}) => ({
  name,
  description: name,
  parameters,
});
/** Nothing but a shell. */
export const SHELL = [tool("shell")];
const ALL = [
  ...["shell", "write_file", "edit_file", "read_file", "list_files", "find_files", "search_text"],
  ...["update_plan", "ask_user"],
].map((name) => tool(name));

/** Everything of a request but its messages, with all tools. */
export const REQUEST: Omit<ModelRequest, "messages"> = {
  tools: ALL,
  purpose: "prompt",
  review: undefined,
  outputSchema: undefined,
  temperature: 0,
  reasoningEffort: undefined,
};

/** One response of the offline model. */
export async function ask(
  messages: readonly Message[],
  rest: Partial<ModelRequest> = {},
): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  const request = { ...REQUEST, ...rest, messages };
  for await (const part of new OfflineModel().stream(request, new AbortController().signal)) parts.push(part);
  return parts;
}

/** A user message. */
export const user = (text: string): Message => ({ role: "user", text });
/** The whole text. */
export const text = (parts: readonly ModelPart[]) =>
  parts.map((part) => (part.type === "text-delta" ? part.text : "")).join("");
/** The tool calls. */
export const calls = (parts: readonly ModelPart[]) => parts.filter((part) => part.type === "tool-call");
/** The result of a successful command. */
export const done = (output: string, exitCode = 0): ToolResult => ({
  status: "done",
  exitCode,
  text: output,
});

/** Plays a whole turn with these results of tool calls in order. */
export async function play(
  messages: readonly Message[],
  results: readonly ToolResult[],
  rest: Partial<ModelRequest> = {},
) {
  const conversation = [...messages];
  const steps: ModelPart[][] = [];
  for (const result of [...results, undefined]) {
    const parts = await ask(conversation, rest);
    steps.push(parts);
    const [call] = calls(parts);
    if (call === undefined || result === undefined) break;
    conversation.push({ role: "assistant", text: "", calls: [call] });
    conversation.push({ role: "tool", callId: call.callId, tool: call.tool, ...result });
  }
  const asked = steps.flatMap(calls).map(({ tool: name, input }) => [name, input] as const);
  return { steps, asked, last: text(steps.at(-1) ?? []) };
}
