import { createHash } from "node:crypto";
import { type Item, isId, isRecord, type ThreadItem } from "@flint/protocol";
import { type CodexAnyItem, type CodexItem, readCodexItem } from "@flint/protocol/codex";
import { fileChange } from "./file-changes.ts";
import { unwrapShell } from "./shell-words.ts";

type WorkStatus = Item<"commandExecution">["status"];

/** The id of an item; one that is not a valid id of Flint's is replaced by its digest. */
export function itemIdOf(id: string): string {
  return isId(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, 32);
}

/** An item of Codex as an item of the thread; undefined for the user's message, which the thread has already. */
export function threadItem(item: CodexAnyItem, cwd: string): ThreadItem | undefined {
  const known = readCodexItem(item);
  const id = itemIdOf(item.id);
  if (known === undefined) return { ...item, type: `codex/${item.type}`, id };
  return knownItem(known, id, cwd);
}

function knownItem(item: CodexItem, id: string, cwd: string): ThreadItem | undefined {
  switch (item.type) {
    case "userMessage":
      return undefined;
    case "agentMessage":
    case "plan":
      return { type: item.type, id, text: item.text };
    case "reasoning":
      return reasoning(item, id);
    case "commandExecution":
      return command(item, id);
    case "fileChange":
      return {
        type: "fileChange",
        id,
        changes: item.changes.map((change) => fileChange(change, cwd)),
        status: workStatus(item.status),
      };
    case "mcpToolCall":
      return mcpToolCall(item, id);
    case "dynamicToolCall":
      return toolCall(id, item, item.arguments, item.contentItems);
    case "collabAgentToolCall":
      return toolCall(id, item, { prompt: item.prompt, threads: item.receiverThreadIds }, undefined);
    case "webSearch":
      return { type: "webSearch", id, query: item.query };
    case "enteredReviewMode":
    case "exitedReviewMode":
      return { type: item.type, id, review: item.review };
    case "contextCompaction":
      return { type: "contextCompaction", id };
  }
}

function reasoning({ summary, content }: CodexItem<"reasoning">, id: string): Item<"reasoning"> {
  return {
    type: "reasoning",
    id,
    ...(summary.length === 0 ? {} : { summary: summary.join("\n\n") }),
    ...(content.length === 0 ? {} : { content: content.join("\n\n") }),
  };
}

function command(item: CodexItem<"commandExecution">, id: string): Item<"commandExecution"> {
  const { aggregatedOutput, exitCode, durationMs } = item;
  return {
    type: "commandExecution",
    id,
    command: unwrapShell(item.command),
    cwd: item.cwd,
    status: workStatus(item.status),
    ...(typeof exitCode === "number" ? { exitCode } : {}),
    ...(typeof aggregatedOutput === "string" ? { aggregatedOutput } : {}),
    ...(typeof durationMs === "number" ? { durationMs } : {}),
  };
}

function mcpToolCall(item: CodexItem<"mcpToolCall">, id: string): Item<"mcpToolCall"> {
  const { server, tool, arguments: given, result, error, durationMs } = item;
  return {
    type: "mcpToolCall",
    id,
    server,
    tool,
    status: callStatus(item.status),
    ...(isRecord(given) ? { arguments: given } : {}),
    ...(result === undefined || result === null ? {} : { result }),
    ...(error === undefined || error === null ? {} : { error: error.message }),
    ...(typeof durationMs === "number" ? { durationMs } : {}),
  };
}

function toolCall(
  id: string,
  { tool, status }: { readonly tool: string; readonly status: string },
  given: unknown,
  result: unknown,
): Item<"toolCall"> {
  return {
    type: "toolCall",
    id,
    tool,
    status: workStatus(status),
    ...(given === undefined || given === null ? {} : { arguments: given }),
    ...(result === undefined || result === null ? {} : { result }),
  };
}

/** An unknown status counts as failed. */
function workStatus(status: string): WorkStatus {
  return status === "inProgress" || status === "completed" || status === "declined" ? status : "failed";
}

function callStatus(status: string): Item<"mcpToolCall">["status"] {
  return status === "inProgress" || status === "completed" ? status : "failed";
}
