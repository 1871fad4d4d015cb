import { type Item, isKnownItem, type KnownItem, type ThreadItem, type UserInput } from "@flint/protocol";
import type { CodexItem, CodexItemTimes, CodexUserInput } from "@flint/protocol/codex";
import { fileChangeOf } from "./file-diff.ts";
import { shellLine } from "./shell-line.ts";
import { isTold } from "./told-items.ts";

/** An item of this wire, with the times that are known of it. */
export type ToldItem = CodexItem & CodexItemTimes;

const UNTIMED: CodexItemTimes = { startedAtMs: null, completedAtMs: null };

/** An item in Codex's words; undefined for one that has none there. */
export function itemOf(item: ThreadItem, times: CodexItemTimes = UNTIMED): ToldItem | undefined {
  const told = isKnownItem(item) && isTold(item) ? knownItem(item) : undefined;
  return told === undefined ? undefined : { ...told, ...times };
}

function knownItem(item: KnownItem): CodexItem {
  const { id } = item;
  switch (item.type) {
    case "userMessage":
      return { type: item.type, id, clientId: item.clientId ?? null, content: item.content.map(inputOf) };
    case "agentMessage":
      return agentMessage(id, item.text);
    case "reasoning":
      return { type: item.type, id, summary: parts(item.summary), content: parts(item.content) };
    case "commandExecution":
      return command(item);
    case "fileChange":
      return { type: item.type, id, changes: item.changes.map(fileChangeOf), status: item.status };
    case "mcpToolCall":
      return mcpToolCall(item);
    case "toolCall":
      return toolCall(item);
    case "webSearch":
      return {
        type: item.type,
        id,
        query: item.query,
        action: { type: "search", query: item.query, queries: null },
      };
    case "plan":
      return { type: item.type, id, text: item.text };
    case "enteredReviewMode":
    case "exitedReviewMode":
      return { type: item.type, id, review: item.review };
    case "contextCompaction":
      return { type: item.type, id };
    case "agentHandoff":
      return agentMessage(id, `${item.toAgent} goes on from here in place of ${item.fromAgent}.`);
  }
}

/** What the agent says, in the form of this wire. */
export function agentMessage(id: string, text: string): CodexItem<"agentMessage"> {
  const unknown = { phase: null, memoryCitation: null, delivery: null, questions: null };
  return { type: "agentMessage", id, text, ...unknown };
}

/** One piece of what the user sent, in the form of this wire. */
export function inputOf(piece: UserInput): CodexUserInput {
  switch (piece.type) {
    case "text":
      return { type: "text", text: piece.text, text_elements: [] };
    case "image":
      return { type: "image", url: piece.url };
    case "localImage":
      return { type: "localImage", path: piece.path };
    case "skill":
      return { type: "skill", name: piece.name, path: piece.path ?? piece.name };
    case "mention":
      return { type: "mention", name: piece.name, path: piece.path };
  }
}

/** Reasoning comes in parts on this wire; Flint's is one text. */
function parts(text: string | undefined): string[] {
  return text === undefined || text === "" ? [] : [text];
}

/** A command as a line with its shell, and what this wire says about its parts. */
export function commandFields(script: string) {
  return { command: shellLine(script), commandActions: [{ type: "unknown", command: script }] };
}

function command(item: Item<"commandExecution">): CodexItem<"commandExecution"> {
  return {
    type: item.type,
    id: item.id,
    pluginId: null,
    scriptPath: null,
    ...commandFields(item.command),
    cwd: item.cwd,
    processId: null,
    source: item.source ?? "agent",
    status: item.status,
    aggregatedOutput: item.aggregatedOutput ?? null,
    exitCode: item.exitCode ?? null,
    durationMs: item.durationMs ?? null,
  };
}

function mcpToolCall(item: Item<"mcpToolCall">): CodexItem<"mcpToolCall"> {
  return {
    type: item.type,
    id: item.id,
    server: item.server,
    tool: item.tool,
    status: item.status,
    arguments: item.arguments ?? {},
    appContext: null,
    mcpAppUi: null,
    pluginId: null,
    readOnlyHint: null,
    result: item.result === undefined ? null : mcpResult(item.result),
    error: item.error === undefined ? null : { message: item.error },
    durationMs: item.durationMs ?? null,
  };
}

/** The result of a tool, in the form that MCP gives it. */
function mcpResult(result: unknown): object {
  const content: unknown = Object(result).content;
  const told = Array.isArray(content) ? content : [{ type: "text", text: textOf(result) }];
  return { content: told, structuredContent: null, _meta: null };
}

/** Any other tool is shown as one that a client could have offered. A refused one has no word of its own. */
function toolCall(item: Item<"toolCall">): CodexItem<"dynamicToolCall"> {
  const { status } = item;
  const isOver = status !== "inProgress";
  const said = item.error ?? (item.result === undefined ? undefined : textOf(item.result));
  return {
    type: "dynamicToolCall",
    id: item.id,
    namespace: null,
    tool: item.tool,
    arguments: item.arguments ?? {},
    status: status === "declined" ? "failed" : status,
    contentItems: said === undefined ? null : [{ type: "inputText", text: said }],
    success: isOver ? status === "completed" : null,
    durationMs: item.durationMs ?? null,
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
