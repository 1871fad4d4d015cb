import { resolve } from "node:path";
import type { ToolKind } from "@agentclientprotocol/sdk";
import type { Action, ExtensionItem, FileUpdateChange, Item, KnownItem, ThreadItem } from "@flint/protocol";
import { isKnownItem } from "@flint/protocol";
import { hunksOf } from "./patch-hunks.ts";

/** A file that a tool call is about, with the line if it is known, counted from one. */
export interface Place {
  readonly path: string;
  readonly line?: number;
}

/** What a tool call shows, in the words of no version of the protocol yet. */
export type ToolOutput =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "command"; readonly command: string; readonly cwd: string; readonly output: string }
  | { readonly type: "changes"; readonly changes: readonly FileUpdateChange[] };

/** An item that is a tool call in the eyes of a client. */
export interface ToolView {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly kind: ToolKind;
  readonly status: "pending" | "in_progress" | "completed" | "failed";
  /** Set if somebody said no to it. */
  readonly declined: boolean;
  readonly places: readonly Place[];
  readonly input: unknown;
  /** What it gave; absent while it is at work. */
  readonly result?: unknown;
  readonly shows: readonly ToolOutput[];
  readonly exitCode?: number | undefined;
}

/** What longest line of a command or query fits into a title. */
const LONGEST_TITLE = 200;

/** Words in the names of tools that tell what they do; the first that fits. */
const KINDS: readonly (readonly [RegExp, ToolKind])[] = [
  [/fetch|web|browse|url/i, "fetch"],
  [/grep|search|find|glob|list|ls\b/i, "search"],
  [/read|view|open|cat\b/i, "read"],
  [/delete|remove/i, "delete"],
  [/move|rename/i, "move"],
  [/edit|write|patch|replace|create/i, "edit"],
  [/shell|bash|exec|run|terminal/i, "execute"],
  [/think|plan|todo|task/i, "think"],
  [/mode/i, "switch_mode"],
];

type ToolItem = Item<
  "commandExecution" | "fileChange" | "mcpToolCall" | "toolCall" | "webSearch" | "agentHandoff"
>;

/**
 * The item as a tool call; undefined for what is said, thought or planned. Agents may name files from their folder; clients
 * are told whole paths.
 */
export function toolView(item: ThreadItem, cwd = ""): ToolView | undefined {
  const view = viewOf(item);
  return view === undefined ? undefined : placed(view, cwd);
}

function viewOf(item: ThreadItem): ToolView | undefined {
  if (!isKnownItem(item)) return extensionView(item);
  if (!isToolItem(item)) return undefined;
  switch (item.type) {
    case "commandExecution":
      return commandView(item);
    case "fileChange":
      return changeView(item);
    case "mcpToolCall":
      return mcpView(item);
    case "toolCall":
      return plainView(item);
    case "webSearch":
      return searchView(item);
    case "agentHandoff":
      return handoffView(item);
  }
}

/** The tool call that an action will be, before it is at work. */
export function actionView(action: Action, cwd = ""): ToolView {
  return placed(viewOfAction(action), cwd);
}

function viewOfAction(action: Action): ToolView {
  const { itemId: id } = action;
  switch (action.kind) {
    case "command": {
      const { command, cwd } = action;
      return commandView({ type: "commandExecution", id, command, cwd, status: "inProgress" });
    }
    case "fileChange":
      return changeView({ type: "fileChange", id, changes: action.changes, status: "inProgress" });
    case "tool": {
      const { tool, server, arguments: given } = action;
      if (server === undefined)
        return plainView({ type: "toolCall", id, tool, arguments: given, status: "inProgress" });
      return { ...named(id, `mcp__${server}__${tool}`, `${tool} (${server})`, "other"), input: given };
    }
  }
}

function placed(view: ToolView, cwd: string): ToolView {
  if (cwd === "") return view;
  const places = view.places.map((place) => ({ ...place, path: resolve(cwd, place.path) }));
  const shows = view.shows.map((shown) =>
    shown.type === "changes"
      ? { ...shown, changes: shown.changes.map((change) => placedChange(change, cwd)) }
      : shown,
  );
  return { ...view, places, shows };
}

function placedChange(change: FileUpdateChange, cwd: string): FileUpdateChange {
  const { path, movePath } = change;
  const moved = movePath === undefined ? {} : { movePath: resolve(cwd, movePath) };
  return { ...change, path: resolve(cwd, path), ...moved };
}

function isToolItem(item: KnownItem): item is ToolItem {
  switch (item.type) {
    case "commandExecution":
    case "fileChange":
    case "mcpToolCall":
    case "toolCall":
    case "webSearch":
    case "agentHandoff":
      return true;
    default:
      return false;
  }
}

function named(id: string, name: string, title: string, kind: ToolKind): ToolView {
  const shown = { places: [], shows: [], input: undefined, declined: false } as const;
  return { id, name, title: titled(title), kind, status: "in_progress", ...shown };
}

function commandView(item: Item<"commandExecution">): ToolView {
  const { id, command, cwd, status, exitCode, aggregatedOutput = "", omittedOutputBytes } = item;
  const omitted = omittedOutputBytes === undefined ? {} : { omittedOutputBytes };
  return {
    ...named(id, "shell", command, "execute"),
    ...stateOf(status),
    input: { command, cwd },
    shows: [{ type: "command", command, cwd, output: aggregatedOutput }],
    exitCode,
    ...(status === "inProgress" ? {} : { result: { exitCode, output: aggregatedOutput, ...omitted } }),
  };
}

function changeView({ id, changes, status, output }: Item<"fileChange">): ToolView {
  const told = changes.map(({ path, kind, movePath }) => ({ path, kind, movePath }));
  return {
    ...named(id, "edit", changesTitle(changes), changesKind(changes)),
    ...stateOf(status),
    places: changes.flatMap(placesOf),
    input: { changes: told },
    shows: [{ type: "changes", changes }, ...textShown(output ?? "")],
    ...(status === "inProgress" ? {} : { result: { status, files: told.map(({ path }) => path), output } }),
  };
}

function mcpView({
  id,
  server,
  tool,
  arguments: input,
  status,
  result,
  error,
}: Item<"mcpToolCall">): ToolView {
  const given = status === "inProgress" ? {} : { result: error === undefined ? result : { error } };
  return {
    ...named(id, `mcp__${server}__${tool}`, `${tool} (${server})`, "other"),
    ...stateOf(status),
    input,
    shows: textShown(error ?? textOf(result)),
    ...given,
  };
}

function plainView({ id, tool, title, arguments: input, status, result, error }: Item<"toolCall">): ToolView {
  const place = placeIn(input);
  const [first] = place;
  const kind = KINDS.find(([word]) => word.test(tool))?.[1] ?? "other";
  const given = status === "inProgress" ? {} : { result: error === undefined ? result : { error } };
  return {
    ...named(id, tool, title ?? (first === undefined ? tool : `${tool} ${first.path}`), kind),
    ...stateOf(status),
    places: place,
    input,
    shows: textShown(error ?? textOf(result)),
    ...given,
  };
}

/** What has no status of its own is done when it is told. */
function searchView({ id, query }: Item<"webSearch">): ToolView {
  const shown = named(id, "web_search", `Search the web: ${query}`, "fetch");
  return { ...shown, status: "completed", input: { query } };
}

function handoffView({ id, fromAgent, toAgent, turnsTold }: Item<"agentHandoff">): ToolView {
  const shown = named(id, "agent_handoff", `${toAgent} goes on from ${fromAgent}`, "switch_mode");
  return { ...shown, status: "completed", input: { fromAgent, toAgent, turnsTold } };
}

/** An item that only its agent knows: its name, and all that it says. */
function extensionView({ id, type, ...told }: ExtensionItem): ToolView {
  return { ...named(id, type, type, "other"), status: "completed", result: told };
}

function stateOf(status: "inProgress" | "completed" | "failed" | "declined") {
  if (status === "inProgress") return { status: "in_progress", declined: false } as const;
  if (status === "completed") return { status, declined: false } as const;
  return { status: "failed", declined: status === "declined" } as const;
}

function changesTitle(changes: readonly FileUpdateChange[]): string {
  const [first] = changes;
  if (first === undefined) return "Change files";
  if (changes.length > 1) return `Change ${changes.length} files`;
  if (first.movePath !== undefined) return `Move ${first.path} to ${first.movePath}`;
  const verbs = { add: "Write", modify: "Edit", delete: "Delete" } as const;
  return `${verbs[first.kind]} ${first.path}`;
}

function changesKind(changes: readonly FileUpdateChange[]): ToolKind {
  if (changes.length > 0 && changes.every(({ kind }) => kind === "delete")) return "delete";
  return changes.length > 0 && changes.every(({ movePath }) => movePath !== undefined) ? "move" : "edit";
}

function placesOf({ path, movePath, diff }: FileUpdateChange): Place[] {
  const [first] = hunksOf(diff);
  const place = movePath ?? path;
  return [first === undefined ? { path: place } : { path: place, line: first.line }];
}

/** The file that a tool is given, by the names that tools have for it. */
function placeIn(input: unknown): Place[] {
  if (typeof input !== "object" || input === null) return [];
  const given = new Map<string, unknown>(Object.entries(input));
  const path = ["path", "file_path", "filePath", "notebook_path"]
    .map((name) => given.get(name))
    .find((value) => typeof value === "string" && value !== "");
  if (typeof path !== "string") return [];
  const line = ["line", "offset", "start_line", "startLine"]
    .map((name) => given.get(name))
    .find((value) => typeof value === "number" && Number.isInteger(value) && value > 0);
  return [typeof line === "number" ? { path, line } : { path }];
}

function textShown(text: string): ToolOutput[] {
  return text === "" ? [] : [{ type: "text", text }];
}

function textOf(result: unknown): string {
  if (result === undefined || result === null) return "";
  if (typeof result === "string") return result;
  return contentText(result) ?? JSON.stringify(result, undefined, 2);
}

/** MCP servers answer with a list of pieces; the text of it is what people read. */
function contentText(result: object | unknown): string | undefined {
  if (typeof result !== "object" || result === null || !("content" in result)) return undefined;
  if (!Array.isArray(result.content)) return undefined;
  const texts = result.content.flatMap((piece: unknown) =>
    typeof piece === "object" && piece !== null && "text" in piece && typeof piece.text === "string"
      ? [piece.text]
      : [],
  );
  return texts.length === 0 ? undefined : texts.join("\n");
}

function titled(text: string): string {
  const [line = ""] = text.trim().split("\n");
  return line.length <= LONGEST_TITLE && line === text.trim() ? line : `${line.slice(0, LONGEST_TITLE)}…`;
}
