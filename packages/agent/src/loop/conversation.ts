import { isKnownItem, isRecord, type KnownItem, type Turn } from "@flint/protocol";
import { type Message, type ToolCall, type ToolResult, tokensInCharacters } from "../models/model.ts";
import { truncateMiddle, visibleText } from "../text.ts";
import { earlierUserMessage } from "./images.ts";

/** What stands for the work of a turn that was cut short, so that it is not taken up again by itself. */
export const INTERRUPTED_NOTE: Message = { role: "assistant", text: "(This was cut short.)", calls: [] };

/** How every summary begins, whoever wrote it. */
export const SUMMARY_HEADING = "Summary of the conversation so far.";

/** The share of the context that one tool result may take. */
const RESULT_SHARE = 4;

/** About what a picture takes of a model's context. */
const PICTURE_TOKENS = 1500;

/** A conversation as its turns tell it. Everything before a compaction is left to the summary. */
export function messagesOf(turns: readonly Turn[]): Message[] {
  return turns.reduce<Message[]>((messages, turn) => withTurn(messages, turn), []);
}

/** The message that stands for everything before it. */
export function summaryMessage(summary: string): Message {
  const text = visibleText(summary);
  return {
    role: "system",
    text: text.startsWith(SUMMARY_HEADING) ? text : `${SUMMARY_HEADING}\n${text}`,
  };
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

/** A conversation in two: what can be summed up, and the newest part that stays as it is. */
export interface ConversationSplit {
  readonly older: readonly Message[];
  readonly newer: readonly Message[];
}

/**
 * Cuts a conversation so that the newer part takes about so many tokens, at least its latest step. A call is never
 * cut from its result.
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

/** A conversation in which every call has a result, as every model wants it. */
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
  let asked: Message[] = [];
  for (const item of turn.items.filter(isKnownItem)) {
    if (item.type === "contextCompaction") {
      if (!item.summary) continue;
      // What the turn is about is still being worked on; its own words say it best.
      result = [summaryMessage(item.summary), ...asked];
    } else {
      const told = itemMessages(item);
      if (item.type === "userMessage") asked = [...asked, ...told];
      result.push(...told);
    }
  }
  const last = result.at(-1);
  const isNew = result.length !== begins || asked.length > 0;
  const isOpen =
    last !== undefined && last.role !== "system" && !(last.role === "assistant" && last.calls.length === 0);
  return isNew && isOpen ? [...result, INTERRUPTED_NOTE] : result;
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
        { status: "done", text: "(What was found is no longer here.)" },
      );
    case "plan":
      return callMessages(
        { callId: item.id, tool: "update_plan", input: { plan: item.entries ?? [] } },
        { status: "done", text: item.text },
      );
    case "reasoning":
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

/** Whatever a tool gave, as text; an object is shown as JSON. */
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
  return { role: "tool", callId, tool, status: "failed", text: "(This was not done: the turn was stopped.)" };
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
    tokensInCharacters(message.text.length) + images * PICTURE_TOKENS,
  );
}

function shortened(message: Message, limit: number): Message {
  return message.role === "tool" ? { ...message, text: truncateMiddle(message.text, limit) } : message;
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
