import { isAbsolute, relative, resolve } from "node:path";
import type { UnifiedDiff } from "@flint/host/files";
import { type Action, type FileUpdateChange, LIMITS, type ThreadItem } from "@flint/protocol";
import { blockText, firstText, type JsonObject, listOf, objectOf, stringOf } from "../wire.ts";
import { commandOf, diffsOf, type ToolCall } from "./tool-call.ts";

/** What an item needs beside the call. */
export interface ToolPlace {
  readonly cwd: string;
  readonly diff: UnifiedDiff;
}

/** What a call is shown as. It does not change once the item is there. */
export type ToolForm = "command" | "fileChange" | "webSearch" | "mcp" | "tool";

/** How an item of a call stands. */
export type ToolStatus = "inProgress" | "completed" | "failed" | "declined";

const MCP_NAME = /^mcp__(.+?)__(.+)$/;
const WEB_SEARCH = /web.?search|google/i;
const LONGEST_REASON = 2000;
const FENCE = /^```[a-z]*\n([\s\S]*?)\n?```\s*$/;

/** What a call has to be shown as; undefined while the agent has not yet told what it is about. */
export function formOf(call: ToolCall, place: ToolPlace): ToolForm | undefined {
  const isEarly = call.status === "pending";
  if (runsCommand(call)) return commandOf(call) === undefined && isEarly ? undefined : "command";
  if (changesOf(call, place).length > 0) return "fileChange";
  if (isEarly && ["edit", "delete", "move"].includes(call.kind)) return undefined;
  if (MCP_NAME.test(call.name ?? "")) return "mcp";
  return searchOf(call) === undefined ? "tool" : "webSearch";
}

/** Codex calls a command by what it seems to be for: `ls` is a search, `cat` is reading. */
function runsCommand(call: ToolCall): boolean {
  return call.kind === "execute" || (call.name === "exec_command" && commandOf(call) !== undefined);
}

/** The call as an item of the thread. */
export function itemOf(
  form: ToolForm,
  id: string,
  status: ToolStatus,
  call: ToolCall,
  place: ToolPlace,
): ThreadItem {
  switch (form) {
    case "command":
      return commandItem(id, status, call, place);
    case "fileChange": {
      const output = contentText(call);
      const changes = [...changesOf(call, place)];
      return { type: "fileChange", id, changes, status, ...(output === "" ? {} : { output }) };
    }
    case "webSearch":
      return { type: "webSearch", id, query: searchOf(call) ?? call.title };
    case "mcp":
      return mcpItem(id, status, call);
    case "tool": {
      const { title, rawInput } = call;
      const told = { tool: toolName(call), title, status, ...resultOf(status, call) };
      return {
        type: "toolCall",
        id,
        ...told,
        ...(rawInput === undefined ? {} : { arguments: bounded(rawInput) }),
      };
    }
  }
}

/** What the user is asked: the exact command, the exact differences, or the tool with all it is given. */
export function actionOf(itemId: string, call: ToolCall, place: ToolPlace): Action {
  // Before a call is made, its content is what the agent says about it.
  const said = call.status === "pending" ? contentText(call) : "";
  const reason = firstText({ ...objectOf(call.rawInput), said }, "description", "justification", "said");
  const common = { itemId, ...(reason === undefined ? {} : { reason: reason.slice(0, LONGEST_REASON) }) };
  // A title is taken for the command only where the agent tells nothing else.
  const isCommand = commandOf(call) !== undefined || Object.keys(objectOf(call.rawInput)).length === 0;
  if (runsCommand(call) && isCommand) return { kind: "command", ...common, ...commandPlace(call, place) };
  const changes = changesOf(call, place);
  // Without the differences nobody could tell what is allowed; then the raw input is the exact thing.
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

/** What a command has printed so far, as far as the agent tells. */
export function outputOf(call: ToolCall): string {
  if (call.terminalOutput !== "") return call.terminalOutput;
  const { rawOutput } = call;
  if (typeof rawOutput === "string") return rawOutput;
  const raw = objectOf(rawOutput);
  const told = firstText(raw, "output", "aggregated_output", "formatted_output", "error");
  if (told !== undefined) return told;
  const printed = `${stringOf(raw.stdout) ?? ""}${stringOf(raw.stderr) ?? ""}`;
  // Before it runs, the content of a command is what the agent says about it.
  return printed !== "" || call.status === "pending" ? printed : unfenced(contentText(call));
}

function commandItem(id: string, status: ToolStatus, call: ToolCall, place: ToolPlace): ThreadItem {
  const output = outputOf(call);
  return {
    ...{ type: "commandExecution", id, ...commandPlace(call, place), status },
    ...(call.exitCode === undefined ? {} : { exitCode: call.exitCode }),
    ...(output === "" ? {} : { aggregatedOutput: output }),
  };
}

/** The command of a call and where it runs. */
export function commandPlace(call: ToolCall, { cwd }: ToolPlace): { command: string; cwd: string } {
  const own = firstText(objectOf(call.rawInput), "cwd", "workdir", "directory");
  return { command: commandOf(call) ?? call.title, cwd: own === undefined ? cwd : resolve(cwd, own) };
}

/** The files that a call changes: the differences it shows, else what it says about them. */
function changesOf(call: ToolCall, place: ToolPlace): readonly FileUpdateChange[] {
  const shown = diffsOf(call).map((diff) => changeOf(call, diff, place));
  if (shown.length > 0) return shown;
  const input = objectOf(call.rawInput);
  const [first, second] = call.locations;
  const path = first ?? firstText(input, "filepath", "file_path", "path");
  if (path === undefined) return [];
  const where = resolve(place.cwd, path);
  if (call.kind === "delete") return [{ path: where, kind: "delete", diff: "" }];
  if (call.kind === "move" && second !== undefined) {
    return [{ path: where, kind: "modify", diff: "", movePath: resolve(place.cwd, second) }];
  }
  const diff = stringOf(input.diff) ?? "";
  if (call.kind !== "edit" || (diff === "" && call.status === "pending")) return [];
  return [{ path: where, kind: /^--- \/dev\/null/m.test(diff) ? "add" : "modify", diff }];
}

function changeOf(call: ToolCall, part: JsonObject, { cwd, diff }: ToolPlace): FileUpdateChange {
  const path = resolve(cwd, stringOf(part.path) ?? "");
  const old = stringOf(part.oldText);
  const told = objectOf(part._meta).kind;
  const isDeleted = told === "delete" || call.kind === "delete";
  // Several agents give an empty text for a file that is not there yet.
  const isNew = old === undefined || (old === "" && told !== "update" && told !== "modify");
  const before = isNew && !isDeleted ? undefined : (old ?? "");
  const after = isDeleted ? undefined : (stringOf(part.newText) ?? "");
  const kind = isDeleted ? "delete" : before === undefined ? "add" : "modify";
  return { path, kind, diff: diff({ path: shownPath(path, cwd), before, after }) };
}

function shownPath(path: string, cwd: string): string {
  const inside = relative(cwd, path);
  return inside === "" || inside.startsWith("..") || isAbsolute(inside) ? path.replace(/^\//, "") : inside;
}

function searchOf({ kind, name, title, rawInput }: ToolCall): string | undefined {
  if (!["fetch", "search", "other"].includes(kind) || !WEB_SEARCH.test(`${name ?? ""} ${title}`))
    return undefined;
  return firstText(objectOf(rawInput), "query", "q", "search_query");
}

function mcpItem(id: string, status: ToolStatus, call: ToolCall): ThreadItem {
  const [, server = "", tool = ""] = MCP_NAME.exec(call.name ?? "") ?? [];
  const input = objectOf(call.rawInput);
  const told = { server, tool, arguments: { ...input }, ...resultOf(status, call) };
  return { type: "mcpToolCall", id, ...told, status: status === "declined" ? "failed" : status };
}

function resultOf(status: ToolStatus, call: ToolCall): { result?: unknown; error?: string } {
  const text = contentText(call);
  if (status === "inProgress") return {};
  const told = text === "" ? outputOf(call) : text;
  if (status !== "completed") return told === "" ? {} : { error: cut(told) };
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

/** The value itself, or the beginning of its text if there is too much of it. */
function bounded(value: unknown): unknown {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  if (text.length <= LIMITS.output) return value;
  return listOf(value).length > 0 || typeof value === "object" ? { text: cut(text) } : cut(text);
}
