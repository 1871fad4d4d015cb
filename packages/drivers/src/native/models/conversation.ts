import { inputText, isKnownItem, type KnownItem, type Turn } from "@flint/protocol";
import { type Message, type ToolCall, type ToolResult, tokensInCharacters } from "./model.ts";

/** What stands for the work of a turn that was cut short, so that it is not taken up again by itself. */
export const CUT_SHORT: Message = { role: "assistant", text: "(This was cut short.)", calls: [] };

/** The share of the context that one tool result may take. */
const RESULT_SHARE = 4;

/** A conversation as its turns tell it. Everything before a compaction is left to the summary. */
export function messagesOf(turns: readonly Turn[]): Message[] {
  return turns.reduce<Message[]>((messages, turn) => withTurn(messages, turn), []);
}

/** The message that stands for everything before it. */
export function summaryMessage(summary: string): Message {
  return { role: "system", text: summary };
}

/** What a conversation takes of a model's context. */
export function tokensOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + messageTokens(message), 0);
}

/**
 * The newest part of a conversation that fits: long results are shortened, and the oldest exchanges are left out
 * whole, so that no call is without its result. Summaries and the latest exchange always stay.
 */
export function fitContext(messages: readonly Message[], tokens: number): Message[] {
  const limit = Math.floor((tokens * 4) / RESULT_SHARE);
  const exchanges = exchangesOf(messages.map((message) => shortened(message, limit)));
  const kept: Message[][] = [];
  let room = tokens;
  for (const exchange of exchanges.toReversed()) {
    room -= tokensOf(exchange);
    const stays = room >= 0 || kept.length === 0 || exchange[0]?.role === "system";
    if (stays) kept.unshift(exchange);
  }
  return kept.flat();
}

/** A text with its middle left out if it is too long, and a line that says so. */
export function shortenText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const half = Math.floor(limit / 2);
  const omitted = text.length - 2 * half;
  return `${text.slice(0, half)}\n… ${omitted} characters left out …\n${text.slice(text.length - half)}`;
}

function withTurn(messages: readonly Message[], turn: Turn): Message[] {
  let result = [...messages];
  for (const item of turn.items.filter(isKnownItem)) {
    if (item.type === "contextCompaction") result = [summaryMessage(item.summary ?? "")];
    else result.push(...itemMessages(item));
  }
  const last = result.at(-1);
  const isOpen =
    last !== undefined && last.role !== "system" && !(last.role === "assistant" && last.calls.length === 0);
  return isOpen ? [...result, CUT_SHORT] : result;
}

function itemMessages(item: KnownItem): Message[] {
  switch (item.type) {
    case "userMessage":
      return [{ role: "user", text: inputText(item.content) }];
    case "agentMessage":
      return [{ role: "assistant", text: item.text, calls: [] }];
    case "commandExecution": {
      const { exitCode, aggregatedOutput: text = "", status } = item;
      const result = { status: toolStatus(status), text, ...(exitCode === undefined ? {} : { exitCode }) };
      return callMessages({ callId: item.id, tool: "shell", input: { command: item.command } }, result);
    }
    case "fileChange": {
      const paths = item.changes.map((change) => change.path);
      const result = { status: toolStatus(item.status), text: item.output ?? "" };
      return callMessages({ callId: item.id, tool: "write_file", input: { path: paths.join(", ") } }, result);
    }
    case "reasoning":
    case "mcpToolCall":
    case "toolCall":
    case "webSearch":
    case "plan":
    case "enteredReviewMode":
    case "exitedReviewMode":
    case "contextCompaction":
      return [];
  }
}

function callMessages(call: ToolCall, result: ToolResult): Message[] {
  return [
    { role: "assistant", text: "", calls: [call] },
    { role: "tool", callId: call.callId, tool: call.tool, ...result },
  ];
}

function toolStatus(status: "inProgress" | "completed" | "failed" | "declined"): ToolResult["status"] {
  if (status === "completed") return "done";
  return status === "declined" ? "declined" : "failed";
}

function messageTokens(message: Message): number {
  const calls = message.role === "assistant" ? message.calls : [];
  return calls.reduce(
    (sum, call) => sum + tokensInCharacters(JSON.stringify(call.input).length),
    tokensInCharacters(message.text.length),
  );
}

function shortened(message: Message, limit: number): Message {
  return message.role === "tool" ? { ...message, text: shortenText(message.text, limit) } : message;
}

/** Cuts before every user message that follows finished work, and around summaries. */
function exchangesOf(messages: readonly Message[]): Message[][] {
  const exchanges: Message[][] = [];
  let previous: Message | undefined;
  for (const message of messages) {
    const finished =
      previous?.role === "system" || (previous?.role === "assistant" && previous.calls.length === 0);
    if (previous === undefined || finished || message.role === "system") exchanges.push([]);
    exchanges.at(-1)?.push(message);
    previous = message;
  }
  return exchanges;
}
