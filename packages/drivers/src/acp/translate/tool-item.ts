import { resolve } from "node:path";
import { type FileRevision, readRegularTextSync, type UnifiedDiff } from "@flint/host/files";
import {
  type Action,
  type FileUpdateChange,
  LIMITS,
  listOf,
  stringOf,
  type ThreadItem,
} from "@flint/protocol";
import { type JsonObject, objectOf } from "../../shared/json.ts";
import { displayPath } from "../../shared/translate.ts";
import { blockText, commandOf, diffsOf, firstString, folderCommandOf, type ToolCall } from "./tool-call.ts";

/** Options of an item besides its call. */
export interface ToolContext {
  readonly cwd: string;
  readonly diff: UnifiedDiff;
}

/** The kind of item that a call is shown as. It does not change once the item has started. */
export type ToolForm = "command" | "fileChange" | "webSearch" | "mcp" | "tool";

/** The status of a call's item. */
export type ToolStatus = "inProgress" | "completed" | "failed" | "declined";

const MCP_NAME = /^mcp__(.+?)__(.+)$/;
const WEB_SEARCH = /web.?search|google/i;
const REASON_CHARACTERS = 2000;
const FENCE = /^```[a-z]*\n([\s\S]*?)\n?```\s*$/;

/** The form of a call; undefined while the agent has not described it enough. */
export function formOf(call: ToolCall, context: ToolContext): ToolForm | undefined {
  const isEarly = call.status === "pending";
  if (runsCommand(call)) return commandOf(call) === undefined && isEarly ? undefined : "command";
  if (changesOf(call, context).length > 0) return "fileChange";
  if (isEarly && ["edit", "delete", "move"].includes(call.kind)) return undefined;
  if (MCP_NAME.test(call.name ?? "")) return "mcp";
  return searchOf(call) === undefined ? "tool" : "webSearch";
}

/** codex-acp gives a command the kind of its purpose: `ls` is a search, `cat` is a read. */
function runsCommand(call: ToolCall): boolean {
  return call.kind === "execute" || (call.name === "exec_command" && commandOf(call) !== undefined);
}

/** The item that shows a call. */
export function itemOf(
  form: ToolForm,
  id: string,
  status: ToolStatus,
  call: ToolCall,
  context: ToolContext,
): ThreadItem {
  switch (form) {
    case "command":
      return commandItem(id, status, call, context);
    case "fileChange": {
      const output = contentText(call);
      const changes = [...changesOf(call, context)];
      return { type: "fileChange", id, changes, status, ...(output === "" ? {} : { output }) };
    }
    case "webSearch":
      return { type: "webSearch", id, query: searchOf(call) ?? call.title };
    case "mcp":
      return mcpItem(id, status, call);
    case "tool": {
      const { title, rawInput } = call;
      const shown = { tool: toolName(call), title, status, ...resultOf(status, call) };
      return {
        type: "toolCall",
        id,
        ...shown,
        ...(rawInput === undefined ? {} : { arguments: bounded(rawInput) }),
      };
    }
  }
}

/** The action to approve: the exact command, the exact diffs, or the tool with its whole input. */
export function actionOf(itemId: string, call: ToolCall, context: ToolContext): Action {
  // Before a call runs, its content is the agent's description of it.
  const description = call.status === "pending" ? contentText(call) : "";
  const reason = firstString(
    { ...objectOf(call.rawInput), content: description },
    ...["description", "justification", "content"],
  );
  const common = { itemId, ...(reason === undefined ? {} : { reason: reason.slice(0, REASON_CHARACTERS) }) };
  const outside = folderCommandOf(call);
  if (outside !== undefined) return folderAction(outside, call, context, itemId);
  // The title stands for the command only where the agent gives nothing else.
  const isCommand = commandOf(call) !== undefined || Object.keys(objectOf(call.rawInput)).length === 0;
  if (runsCommand(call) && isCommand) return { kind: "command", ...common, ...commandAction(call, context) };
  const changes = changesOf(call, context);
  // Without the diffs it would not be clear what is approved; the raw input is exact then.
  if (changes.length > 0 && changes.every((change) => change.diff !== "" || change.kind === "delete")) {
    return { kind: "fileChange", ...common, changes: [...changes] };
  }
  const [, server, tool] = MCP_NAME.exec(call.name ?? "") ?? [];
  const given = { title: call.title, locations: call.locations, input: call.rawInput };
  if (server === undefined || tool === undefined) {
    return { kind: "tool", ...common, tool: toolName(call), arguments: call.rawInput ?? given };
  }
  return { kind: "tool", ...common, tool, server, arguments: call.rawInput };
}

/** A request about the folders of a command is one about the command, so that the user is asked once and sees both. */
function folderAction(command: string, call: ToolCall, { cwd }: ToolContext, itemId: string): Action {
  const folders = listOf(objectOf(call.rawInput).directories).map(String);
  const reason = `It uses paths outside of the workspace (${folders.join(", ")}); the sandbox does not let it write there.`;
  return { kind: "command", itemId, command, cwd, reason: reason.slice(0, REASON_CHARACTERS) };
}

/** The output of a command so far, as far as the agent reports it. */
export function outputOf(call: ToolCall): string {
  if (call.terminalOutput !== "") return call.terminalOutput;
  const { rawOutput } = call;
  if (typeof rawOutput === "string") return rawOutput;
  const raw = objectOf(rawOutput);
  const output = firstString(raw, "output", "aggregated_output", "formatted_output", "error");
  if (output !== undefined) return output;
  const printed = `${stringOf(raw.stdout) ?? ""}${stringOf(raw.stderr) ?? ""}`;
  // Before it runs, its content is the agent's description of it.
  return printed !== "" || call.status === "pending" ? printed : unfenced(contentText(call));
}

function commandItem(id: string, status: ToolStatus, call: ToolCall, context: ToolContext): ThreadItem {
  const output = outputOf(call);
  return {
    ...{ type: "commandExecution", id, ...commandAction(call, context), status },
    ...(call.exitCode === undefined ? {} : { exitCode: call.exitCode }),
    ...(output === "" ? {} : { aggregatedOutput: output }),
  };
}

/** The command of a call, and the folder it runs in. */
export function commandAction(call: ToolCall, { cwd }: ToolContext): { command: string; cwd: string } {
  const own = firstString(objectOf(call.rawInput), "cwd", "workdir", "directory");
  return { command: commandOf(call) ?? call.title, cwd: own === undefined ? cwd : resolve(cwd, own) };
}

/** The files that a call changes: by its diffs, or else by its kind and locations. */
function changesOf(call: ToolCall, context: ToolContext): readonly FileUpdateChange[] {
  const shown = diffsOf(call).map((diff) => changeOf(call, diff, context));
  if (shown.length > 0) return shown;
  const input = objectOf(call.rawInput);
  const [first, second] = call.locations;
  const path = first ?? firstString(input, "filepath", "file_path", "path");
  if (path === undefined) return [];
  const absolute = resolve(context.cwd, path);
  if (call.kind === "delete") return [{ path: absolute, kind: "delete", diff: "" }];
  if (call.kind === "move" && second !== undefined) {
    return [{ path: absolute, kind: "modify", diff: "", movePath: resolve(context.cwd, second) }];
  }
  const diff = stringOf(input.diff) ?? "";
  if (call.kind !== "edit" || (diff === "" && call.status === "pending")) return [];
  return [{ path: absolute, kind: /^--- \/dev\/null/m.test(diff) ? "add" : "modify", diff }];
}

function changeOf(call: ToolCall, part: JsonObject, { cwd, diff }: ToolContext): FileUpdateChange {
  const path = resolve(cwd, stringOf(part.path) ?? "");
  const old = stringOf(part.oldText);
  const kindGiven = objectOf(part._meta).kind;
  const isDeleted = kindGiven === "delete" || call.kind === "delete";
  // Several agents give an empty text for a file that does not exist yet.
  const isNew = old === undefined || (old === "" && kindGiven !== "update" && kindGiven !== "modify");
  const before = isNew && !isDeleted ? undefined : (old ?? "");
  const after = isDeleted ? undefined : (stringOf(part.newText) ?? "");
  const kind = isDeleted ? "delete" : before === undefined ? "add" : "modify";
  return { path, kind, diff: diff({ path: displayPath(path, cwd).replace(/^\//, ""), before, after }) };
}

function searchOf({ kind, name, title, rawInput }: ToolCall): string | undefined {
  if (!["fetch", "search", "other"].includes(kind) || !WEB_SEARCH.test(`${name ?? ""} ${title}`))
    return undefined;
  return firstString(objectOf(rawInput), "query", "q", "search_query");
}

function mcpItem(id: string, status: ToolStatus, call: ToolCall): ThreadItem {
  const [, server = "", tool = ""] = MCP_NAME.exec(call.name ?? "") ?? [];
  const input = objectOf(call.rawInput);
  const shown = { server, tool, arguments: { ...input }, ...resultOf(status, call) };
  return { type: "mcpToolCall", id, ...shown, status: status === "declined" ? "failed" : status };
}

function resultOf(status: ToolStatus, call: ToolCall): { result?: unknown; error?: string } {
  const text = contentText(call);
  if (status === "inProgress") return {};
  const error = text === "" ? outputOf(call) : text;
  if (status !== "completed") return error === "" ? {} : { error: cut(error) };
  const result = text === "" ? call.rawOutput : text;
  return result === undefined ? {} : { result: bounded(result) };
}

function toolName({ name, title, kind }: ToolCall): string {
  return name ?? (kind === "other" && title !== "" ? title : kind);
}

function contentText({ content }: ToolCall): string {
  const texts = content.flatMap((part) => (part.type === "content" ? [blockText(part.content)] : []));
  return texts.filter((text) => text !== "").join("\n");
}

function unfenced(text: string): string {
  return FENCE.exec(text)?.[1] ?? text;
}

function cut(text: string): string {
  return text.length <= LIMITS.output ? text : text.slice(0, LIMITS.output);
}

/** The value itself, or the beginning of its JSON if it is too large. */
function bounded(value: unknown): unknown {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  if (text.length <= LIMITS.output) return value;
  return listOf(value).length > 0 || typeof value === "object" ? { text: cut(text) } : cut(text);
}

/** Larger files are shown as the agent sends them. */
const MAX_BYTES = 2_000_000;

/**
 * Completes the diffs of an agent that sends only the lines which it changes. The rest is read from the file, before or
 * after the change. Lines that are not in the file exactly once stay as the agent sent them.
 */
export function completingDiffs(diff: UnifiedDiff, cwd: string): UnifiedDiff {
  return (change) => diff(wholeChange(change, readRegularTextSync(resolve(cwd, change.path), MAX_BYTES)));
}

function wholeChange(change: FileRevision, text: string | undefined): FileRevision {
  const { path, before, after } = change;
  if (text === undefined || before === undefined || after === undefined) return change;
  if (text === before || text === after) return change;
  if (occursOnce(text, before)) return { path, before: text, after: text.replace(before, () => after) };
  if (occursOnce(text, after)) return { path, before: text.replace(after, () => before), after: text };
  return change;
}

function occursOnce(text: string, part: string): boolean {
  const at = text.indexOf(part);
  return part !== "" && at >= 0 && text.indexOf(part, at + 1) < 0;
}
