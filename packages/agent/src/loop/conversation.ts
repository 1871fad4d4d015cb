import { cutMiddle, visibleText } from "@flint/core/text";
import { isKnownItem, isRecord, type KnownItem, type Turn } from "@flint/protocol";
import { type Message, type ToolCall, type ToolResult, tokensInCharacters } from "../models/model.ts";
import { earlierUserMessage } from "./images.ts";

/** Ends the work of an interrupted turn, so that the model does not continue it unasked. */
export const INTERRUPTED_NOTE: Message = { role: "assistant", text: "(This was interrupted.)", calls: [] };

/** Stands at the end of a command that the user ran, which is stored like a call of the model. */
const USER_COMMAND_NOTE: Message = { role: "assistant", text: "(The user ran this command.)", calls: [] };

/** The first line of every summary. */
export const SUMMARY_HEADING = "Summary of the conversation so far.";

/** The share of the context that one tool result may use, as a divisor. */
const RESULT_SHARE = 4;

/** About how many tokens an image uses. */
const IMAGE_TOKENS = 1500;

/** The conversation of stored turns. A summary replaces everything before a compaction. */
export function messagesOf(turns: readonly Turn[]): Message[] {
  return turns.reduce<Message[]>((messages, turn) => withTurn(messages, turn), []);
}

/** The message that replaces everything before it. */
export function summaryMessage(summary: string): Message {
  const text = visibleText(summary);
  return {
    role: "system",
    text: text.startsWith(SUMMARY_HEADING) ? text : `${SUMMARY_HEADING}\n${text}`,
  };
}

/** Estimates the size of a conversation in tokens. */
export function tokensOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + messageTokens(message), 0);
}

/**
 * The newest part of a conversation that fits: long results are truncated, and the oldest exchanges are left out
 * as a whole, so that no call loses its result. Summaries and the latest exchange always stay.
 */
export function fitContext(messages: readonly Message[], tokens: number): Message[] {
  const limit = Math.floor((tokens * 4) / RESULT_SHARE);
  const exchanges = exchangesOf(messages.map((message) => shortened(message, limit)));
  const retained: Message[][] = [];
  let room = tokens;
  for (const exchange of exchanges.toReversed()) {
    room -= tokensOf(exchange);
    const stays = room >= 0 || retained.length === 0 || exchange[0]?.role === "system";
    if (stays) retained.unshift(exchange);
  }
  return retained.flat();
}

/** A conversation in two: what can be compacted, and the newest part that stays as it is. */
export interface ConversationSplit {
  readonly older: readonly Message[];
  readonly newer: readonly Message[];
}

/**
 * Splits a conversation so that the newer part has about so many tokens, at least its latest step. A call is never
 * separated from its result.
 */
export function splitConversation(messages: readonly Message[], tokens: number): ConversationSplit {
  let cut = messages.length;
  let size = 0;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at];
    if (message === undefined || message.role === "system") break;
    size += messageTokens(message);
    if (size > tokens && cut < messages.length) break;
    if (message.role !== "tool") cut = at;
  }
  return { older: messages.slice(0, cut), newer: messages.slice(cut) };
}

/** A conversation in which every call has a result, as every provider requires. */
export function withAllResults(messages: readonly Message[]): Message[] {
  const result: Message[] = [];
  const open = new Map<string, ToolCall>();
  const close = () => {
    result.push(...[...open.values()].map(notDone));
    open.clear();
  };
  for (const message of messages) {
    if (message.role === "tool") open.delete(message.callId);
    else close();
    result.push(message);
    if (message.role === "assistant") for (const call of message.calls) open.set(call.callId, call);
  }
  close();
  return result;
}

function withTurn(messages: readonly Message[], turn: Turn): Message[] {
  let result = [...messages];
  const begins = result.length;
  let requests: Message[] = [];
  for (const item of turn.items.filter(isKnownItem)) {
    if (item.type === "contextCompaction") {
      if (!item.summary) continue;
      // The request of the turn is still being worked on, so it stays verbatim.
      result = [summaryMessage(item.summary), ...requests];
    } else {
      const messages = itemMessages(item);
      if (item.type === "userMessage") requests = [...requests, ...messages];
      result.push(...messages);
    }
  }
  const last = result.at(-1);
  const isNew = result.length !== begins || requests.length > 0;
  const isOpen =
    last !== undefined && last.role !== "system" && !(last.role === "assistant" && last.calls.length === 0);
  const note = turn.items.some(isUserCommand) ? USER_COMMAND_NOTE : INTERRUPTED_NOTE;
  return isNew && isOpen ? [...result, note] : result;
}

function isUserCommand(item: Turn["items"][number]): boolean {
  return isKnownItem(item) && item.type === "commandExecution" && item.source === "userShell";
}

function itemMessages(item: KnownItem): Message[] {
  switch (item.type) {
    case "userMessage":
      return [earlierUserMessage(item.content)];
    case "agentMessage":
      return item.text === "" ? [] : [{ role: "assistant", text: visibleText(item.text), calls: [] }];
    case "commandExecution": {
      const { exitCode, aggregatedOutput: text = "", status } = item;
      const result = { status: toolStatus(status), text, ...(exitCode === undefined ? {} : { exitCode }) };
      return callMessages({ callId: item.id, tool: "shell", input: { command: item.command } }, result);
    }
    case "fileChange":
      return fileMessages(item);
    case "mcpToolCall": {
      const { server, tool, status, error, result } = item;
      const call = { callId: item.id, tool: `mcp__${server}__${tool}`, input: item.arguments ?? {} };
      return callMessages(call, { status: toolStatus(status), text: error ?? asText(result) });
    }
    case "toolCall": {
      const { tool, status, error, result } = item;
      const call = { callId: item.id, tool, input: asInput(item.arguments) };
      return callMessages(call, { status: toolStatus(status), text: error ?? asText(result) });
    }
    case "webSearch":
      return callMessages(
        { callId: item.id, tool: "search_web", input: { query: item.query } },
        { status: "done", text: "(The results are no longer available.)" },
      );
    case "plan":
      return callMessages(
        { callId: item.id, tool: "update_plan", input: { plan: item.entries ?? [] } },
        { status: "done", text: item.text },
      );
    case "reasoning":
    case "subAgentMessage":
    case "hookRun":
    case "enteredReviewMode":
    case "exitedReviewMode":
    case "contextCompaction":
    case "agentHandoff":
      return [];
  }
}

function fileMessages(item: Extract<KnownItem, { type: "fileChange" }>): Message[] {
  const patch = item.changes.map((change) => change.diff || `(${change.kind} ${change.path})`).join("");
  const done = item.status === "completed" ? "The files were changed." : "";
  const result = { status: toolStatus(item.status), text: item.output ?? done };
  return callMessages({ callId: item.id, tool: "apply_patch", input: { patch: visibleText(patch) } }, result);
}

/** The result of a tool as text; an object is formatted as JSON. */
function asText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined ? "" : JSON.stringify(value);
}

function asInput(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? { ...value } : {};
}

function callMessages(call: ToolCall, result: ToolResult): Message[] {
  const text = visibleText(result.text);
  return [
    { role: "assistant", text: "", calls: [call] },
    { role: "tool", callId: call.callId, tool: call.tool, ...result, text },
  ];
}

function notDone({ callId, tool }: ToolCall): Message {
  return {
    role: "tool",
    callId,
    tool,
    status: "failed",
    text: "(This did not run: the turn was interrupted.)",
  };
}

function toolStatus(status: "inProgress" | "completed" | "failed" | "declined"): ToolResult["status"] {
  if (status === "completed") return "done";
  return status === "declined" ? "declined" : "failed";
}

function messageTokens(message: Message): number {
  const calls = message.role === "assistant" ? message.calls : [];
  const images = message.role === "user" ? (message.images?.length ?? 0) : 0;
  return calls.reduce(
    (sum, call) => sum + tokensInCharacters(JSON.stringify(call.input).length),
    tokensInCharacters(message.text.length) + images * IMAGE_TOKENS,
  );
}

function shortened(message: Message, limit: number): Message {
  return message.role === "tool" ? { ...message, text: shortenedResult(message.text, limit) } : message;
}

/** The end of a command's output has its errors, so it gets as much room as the beginning. */
const RESULT_SHARES = { head: 0.475, tail: 0.475 };

/** Returns the result of a tool, shortened to about this many characters. */
export function shortenedResult(text: string, limit: number): string {
  return cutMiddle(text, limit, "characters", RESULT_SHARES).text;
}

/** Splits before every user message that follows finished work, and around summaries. */
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
