import { shellQuote } from "@flint/core/text";
import { inputText, listOf, mintId, type ThreadItem } from "@flint/protocol";
import type { CodexAnyItem } from "@flint/protocol/codex";
import { objectOf, stringField } from "../../shared/json.ts";
import type { SessionLine } from "../../shared/session-files.ts";
import { threadItem } from "../translate/items.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The items of a line of a session. Codex writes each item once, when it is complete. */
export function itemsOf({ type, payload }: SessionLine, cwd: string): readonly ThreadItem[] {
  const event = objectOf(payload);
  if (type !== "event_msg") return [];
  switch (event.type) {
    case "item_completed":
      return completed(objectOf(event.item), cwd);
    // Versions before 0.150 have these instead.
    case "user_message":
      return [userMessage(mintId(), stringField(event, "message") ?? "")];
    case "agent_message":
      return [{ type: "agentMessage", id: mintId(), text: stringField(event, "message") ?? "" }];
    case "agent_reasoning":
      return [{ type: "reasoning", id: mintId(), summary: stringField(event, "text") ?? "" }];
    case "exec_command_end":
      return completed({ ...event, type: "CommandExecution", id: event.call_id, status: "completed" }, cwd);
    default:
      return [];
  }
}

/** The text of a prompt. */
export function promptIn(item: ThreadItem): readonly string[] {
  return item.type === "userMessage" && "content" in item && Array.isArray(item.content)
    ? [inputText(item.content)]
    : [];
}

function userMessage(id: string, text: string): ThreadItem {
  return { type: "userMessage", id, content: [{ type: "text", text }] };
}

function completed(item: Fields, cwd: string): readonly ThreadItem[] {
  const id = stringField(item, "id") ?? mintId();
  if (item.type === "UserMessage") return [userMessage(mintId(), textsOf(item.content).join("\n"))];
  const wire = wireItem(item, id);
  const translated = wire === undefined ? undefined : threadItem(wire, cwd);
  return translated === undefined ? [] : [translated];
}

/** An item of a session as Codex would send it; undefined for one that only Codex itself can show. */
function wireItem(item: Fields, id: string): CodexAnyItem | undefined {
  const status = stringField(item, "status") ?? "completed";
  switch (item.type) {
    case "AgentMessage":
      return { type: "agentMessage", id, ...{ text: textsOf(item.content).join("") } };
    case "Plan":
      return { type: "plan", id, ...{ text: stringField(item, "text") ?? "" } };
    case "Reasoning":
      return {
        ...{ type: "reasoning", id },
        ...{ summary: stringsOf(item.summary_text), content: stringsOf(item.raw_content) },
      };
    case "CommandExecution":
      return {
        ...{ type: "commandExecution", id, command: commandLine(item.command), status },
        ...{ cwd: (stringField(item, "cwd") ?? "").replace(/^file:\/\//, "") },
        ...{ aggregatedOutput: stringField(item, "aggregated_output") ?? null },
        ...{ exitCode: typeof item.exit_code === "number" ? item.exit_code : null },
      };
    case "FileChange":
      return { type: "fileChange", id, ...{ status, changes: changesOf(item.changes) } };
    case "McpToolCall":
      return { ...item, type: "mcpToolCall", id, ...{ status } };
    case "WebSearch":
      return { type: "webSearch", id, ...{ query: stringField(item, "query") ?? "" } };
    case "ContextCompaction":
      return { type: "contextCompaction", id };
    default:
      return undefined;
  }
}

function stringsOf(value: unknown): string[] {
  return listOf(value).filter((text) => typeof text === "string");
}

function textsOf(content: unknown): string[] {
  return listOf(content).flatMap((part) => stringField(part, "text") ?? []);
}

/** A command is the words of its program; a shell with a script is that script. */
function commandLine(command: unknown): string {
  return typeof command === "string" ? command : stringsOf(command).map(shellQuote).join(" ");
}

/** The changes of files, by their paths. */
function changesOf(changes: unknown): object[] {
  return Object.entries(objectOf(changes)).map(([path, change]) => {
    const type = stringField(change, "type") ?? "update";
    const diff = stringField(change, "unified_diff") ?? stringField(change, "content") ?? "";
    return { path, kind: { type, move_path: stringField(change, "move_path") ?? null }, diff };
  });
}
