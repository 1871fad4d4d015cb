import { resolve } from "node:path";
import { commandActions, shellQuote } from "@flint/core/text";
import {
  type CommandAction,
  type FileUpdateChange,
  type Item,
  isKnownItem,
  type KnownItem,
  type ThreadEvent,
  type ThreadItem,
  type UserInput,
} from "@flint/protocol";
import type {
  CodexCommandAction,
  CodexFileChange,
  CodexItem,
  CodexItemTimes,
  CodexUserInput,
} from "@flint/protocol/codex";
import { DECLINED_COMMAND, declinedText, stoppedText } from "../../shared/client-text.ts";

/** An item of this wire, with the times that are known of it. */
export type TimedItem = CodexItem & CodexItemTimes;

const UNTIMED: CodexItemTimes = { startedAtMs: null, completedAtMs: null };

/** An item as Codex has it; undefined for one that its clients are not shown. */
export function itemOf(item: ThreadItem, times: CodexItemTimes = UNTIMED): TimedItem | undefined {
  const known = isKnownItem(item) ? knownItem(item) : undefined;
  return known === undefined ? undefined : { ...known, ...times };
}

/**
 * Reports whether clients are sent an item. The others are sent in another form: the agent's task list as
 * `turn/plan/updated`, a question to the user as the question itself.
 */
export function isShown(item: KnownItem): boolean {
  return knownItem(item) !== undefined;
}

function knownItem(item: KnownItem): CodexItem | undefined {
  const { id } = item;
  switch (item.type) {
    case "userMessage":
      if (isEmpty(item)) return undefined;
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
      return ASKING_TOOLS.has(item.tool) ? undefined : toolCall(item);
    case "webSearch":
      return {
        type: item.type,
        id,
        query: item.query,
        action: { type: "search", query: item.query, queries: null },
      };
    case "plan":
      return isTaskList(item) ? undefined : { type: item.type, id, text: item.text };
    case "enteredReviewMode":
    case "exitedReviewMode":
      return { type: item.type, id, review: item.review };
    case "contextCompaction":
      return { type: item.type, id };
    case "agentHandoff":
      return agentMessage(id, `${item.toAgent} continues from here instead of ${item.fromAgent}.`);
    // Sub-agents have threads of their own on this wire, and hooks their own notifications.
    case "subAgentMessage":
    case "hookRun":
      return undefined;
  }
}

/** A message of the agent. */
export function agentMessage(id: string, text: string): CodexItem<"agentMessage"> {
  const unknown = { phase: null, memoryCitation: null, delivery: null, questions: null };
  return { type: "agentMessage", id, text, ...unknown };
}

/** One part of the user's input. */
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

/** Reasoning comes in parts on this wire; Flint has one string. */
function parts(text: string | undefined): string[] {
  return text === undefined || text === "" ? [] : [text];
}

/** The fields of a command: the line with its shell, and what it does. A file that is read has an absolute path. */
export function commandFields(script: string, cwd: string, actions = commandActions(script)) {
  return { command: shellLine(script), commandActions: actions.map((action) => actionOf(action, cwd)) };
}

function actionOf(action: CommandAction, cwd: string): CodexCommandAction {
  const { type, command } = action;
  switch (type) {
    case "read":
      return { type, command, name: action.name, path: resolve(cwd, action.path) };
    case "listFiles":
      return { type, command, path: action.path ?? null };
    case "search":
      return { type, command, query: action.query ?? null, path: action.path ?? null };
    case "unknown":
      return { type, command };
  }
}

function command(item: Item<"commandExecution">): CodexItem<"commandExecution"> {
  return {
    type: item.type,
    id: item.id,
    pluginId: null,
    scriptPath: null,
    ...commandFields(item.command, item.cwd, item.commandActions),
    cwd: item.cwd,
    processId: null,
    source: item.source ?? "agent",
    status: item.status,
    aggregatedOutput: outputOf(item),
    exitCode: item.exitCode ?? null,
    durationMs: item.durationMs ?? null,
  };
}

/** Its output, and after it what the sandbox kept it from, for which Codex has no fields. */
function outputOf(item: Item<"commandExecution">): string | null {
  const { aggregatedOutput: output, status } = item;
  if (status === "declined") return output === undefined || output === "" ? `${DECLINED_COMMAND}\n` : output;
  const stopped = stoppedText(item);
  if (stopped === "") return output ?? null;
  const before =
    output === undefined || output === "" || output.endsWith("\n") ? (output ?? "") : `${output}\n`;
  return `${before}${stopped}\n`;
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
  const parts = Array.isArray(content) ? content : [{ type: "text", text: textOf(result) }];
  return { content: parts, structuredContent: null, _meta: null };
}

/** Any other tool call is shown as one of a client's own tools. There is no status for a declined one. */
function toolCall(item: Item<"toolCall">): CodexItem<"dynamicToolCall"> {
  const { status } = item;
  const isOver = status !== "inProgress";
  const result = item.error ?? (item.result === undefined ? undefined : textOf(item.result));
  // Codex has no declined calls of tools; they are failed ones.
  const text = status === "declined" ? [declinedText(undefined), result ?? ""].join("\n").trimEnd() : result;
  return {
    type: "dynamicToolCall",
    id: item.id,
    namespace: null,
    tool: item.tool,
    arguments: item.arguments ?? {},
    status: status === "declined" ? "failed" : status,
    contentItems: text === undefined ? null : [{ type: "inputText", text }],
    success: isOver ? status === "completed" : null,
    durationMs: item.durationMs ?? null,
    // Not a field of Codex: a client that knows it can read the work of the sub-agent there.
    ...(item.subAgent?.threadId === undefined ? {} : { agentThreadId: item.subAgent.threadId }),
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** The input of a turn that was started without any. */
function isEmpty({ content }: Item<"userMessage">): boolean {
  return content.every((part) => part.type === "text" && part.text === "");
}

/** A task list has entries; a plan that an agent proposes before it works is text, and an item on this wire too. */
function isTaskList({ entries }: Item<"plan">): boolean {
  return entries !== undefined;
}

/** The names of agents' tools for asking the user. */
const ASKING_TOOLS: ReadonlySet<string> = new Set(["ask_user", "AskUserQuestion"]);

const NO_NEWLINE = "\\ No newline at end of file";

/** A file change as Codex has it: an added or deleted file as its text, a changed one as hunks without a header. */
export function fileChangeOf({ path, kind, diff, movePath }: FileUpdateChange): CodexFileChange {
  const hunks = hunksOf(diff);
  switch (kind) {
    case "add":
      return { path, kind: { type: kind }, diff: wholeText(hunks, "+") };
    case "delete":
      return { path, kind: { type: kind }, diff: wholeText(hunks, "-") };
    case "modify":
      return { path, kind: { type: "update", move_path: movePath ?? null }, diff: hunks };
  }
}

/** The diff without its header; one without hunks as it is. */
function hunksOf(diff: string): string {
  if (diff.startsWith("@@")) return diff;
  const start = diff.indexOf("\n@@");
  return start === -1 ? diff : diff.slice(start + 1);
}

/** The text of a file of which all lines begin with this character. */
function wholeText(hunks: string, prefix: "+" | "-"): string {
  if (!hunks.startsWith("@@")) return hunks;
  const lines = hunks.split("\n");
  const text = lines.filter((line) => line.startsWith(prefix)).map((line) => `${line.slice(1)}\n`);
  return lines.includes(NO_NEWLINE) ? text.join("").replace(/\n$/, "") : text.join("");
}

/** The command line that Codex shows for a script; clients split it as a shell does and show the script. */
function shellLine(script: string): string {
  return `/bin/bash -lc ${quoted(script)}`;
}

/** As Codex quotes it: in double quotes where single quotes would have to be escaped. */
function quoted(text: string): string {
  return text.includes("'") && !/[$`"\\!]/.test(text) ? `"${text}"` : shellQuote(text);
}

/** Items that are remembered; the oldest is forgotten first. */
const MOST_ITEMS = 1_000;

/**
 * Shows items that were not approved as declined, as Codex does. In Flint, an item whose turn was interrupted by the
 * answer has failed. A command that ran without a host that was declined stays failed.
 */
export class DeclinedItems {
  readonly #ids = new Set<string>();

  /** The event as clients are shown it. */
  apply(event: ThreadEvent): ThreadEvent {
    if (event.type === "approval/resolved" && event.data.resolution.decision.outcome !== "allow") {
      this.#add(event.data.itemId);
    }
    if (event.type !== "item/completed" || !this.#ids.has(event.data.item.id)) return event;
    const { item } = event.data;
    if (!isKnownItem(item)) return event;
    if (item.type !== "commandExecution" && item.type !== "fileChange") return event;
    const hasRun =
      item.type === "commandExecution" && (item.connections !== undefined || item.denials !== undefined);
    if (item.status !== "failed" || hasRun) return event;
    return { ...event, data: { ...event.data, item: { ...item, status: "declined" } } };
  }

  #add(id: string): void {
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > MOST_ITEMS && oldest !== undefined) this.#ids.delete(oldest);
  }
}
