import { resolve } from "node:path";
import type { ToolKind } from "@agentclientprotocol/sdk";
import type { Action, CommandAction, ExtensionItem, FileUpdateChange, Item } from "@flint/protocol";
import { declinedText, stoppedText } from "../../shared/client-text.ts";
import { changesKind, changesTitle, type Location, locationsIn, locationsOf, titled } from "./locations.ts";

/** Something a tool call shows, before it is formatted for a protocol version. */
export type ToolOutput =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "command"; readonly command: string; readonly cwd: string; readonly output: string }
  /** A terminal of the client. */
  | { readonly type: "terminal"; readonly terminalId: string }
  | { readonly type: "changes"; readonly changes: readonly FileUpdateChange[] };

/** An item as the tool call that clients see. */
export interface ToolView {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly kind: ToolKind;
  readonly status: "pending" | "in_progress" | "completed" | "failed";
  readonly locations: readonly Location[];
  readonly input: unknown;
  /** Its result; absent while it is in progress. */
  readonly result?: unknown;
  readonly outputs: readonly ToolOutput[];
  readonly exitCode?: number | undefined;
}

/** The kinds of tools by their names; the first match counts. */
const KINDS: readonly (readonly [RegExp, ToolKind])[] = [
  [/fetch|web|browse|url/i, "fetch"],
  [/grep|search|find|glob|list|ls\b/i, "search"],
  [/read|view|open|cat\b/i, "read"],
  [/delete|remove/i, "delete"],
  [/move|rename/i, "move"],
  [/edit|write|patch|replace|create/i, "edit"],
  [/shell|bash|exec|run|terminal/i, "execute"],
  [/mode$/i, "switch_mode"],
  [/think|plan|todo|task/i, "think"],
];

/** An item that is shown as a tool call. */
export type ToolItem = Item<
  | "commandExecution"
  | "fileChange"
  | "mcpToolCall"
  | "toolCall"
  | "webSearch"
  | "agentHandoff"
  | "subAgentMessage"
  | "hookRun"
>;

/** The item as a tool call. Agents may use paths relative to `cwd`; clients get absolute ones. */
export function toolView(item: ToolItem, cwd = "", declinedReason?: string): ToolView {
  const view = resolved(viewOf(item), cwd);
  if (!("status" in item) || item.status !== "declined") return view;
  return { ...view, outputs: [...view.outputs, { type: "text", text: declinedText(declinedReason) }] };
}

function viewOf(item: ToolItem): ToolView {
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
    case "subAgentMessage":
      return subAgentView(item);
    case "hookRun":
      return hookView(item);
  }
}

/** The tool call that an action will be once it is approved. */
export function actionView(action: Action, cwd = ""): ToolView {
  return resolved(viewOfAction(action), cwd);
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
      return { ...inProgress(id, `mcp__${server}__${tool}`, `${tool} (${server})`, "other"), input: given };
    }
  }
}

function resolved(view: ToolView, cwd: string): ToolView {
  if (cwd === "") return view;
  const locations = view.locations.map((location) => ({ ...location, path: resolve(cwd, location.path) }));
  const outputs = view.outputs.map((output) =>
    output.type === "changes"
      ? { ...output, changes: output.changes.map((change) => resolvedChange(change, cwd)) }
      : output,
  );
  return { ...view, locations, outputs };
}

function resolvedChange(change: FileUpdateChange, cwd: string): FileUpdateChange {
  const { path, movePath } = change;
  const moved = movePath === undefined ? {} : { movePath: resolve(cwd, movePath) };
  return { ...change, path: resolve(cwd, path), ...moved };
}

function inProgress(id: string, name: string, title: string, kind: ToolKind): ToolView {
  const empty = { locations: [], outputs: [], input: undefined } as const;
  return { id, name, title: titled(title), kind, status: "in_progress", ...empty };
}

function commandView(item: Item<"commandExecution">): ToolView {
  const { id, command, cwd, status, exitCode, aggregatedOutput = "", omittedOutputBytes } = item;
  const omitted = omittedOutputBytes === undefined ? {} : { omittedOutputBytes };
  return {
    ...inProgress(id, "shell", command, kindOfActions(item.commandActions ?? [])),
    ...stateOf(status),
    locations: (item.commandActions ?? []).flatMap((action) =>
      action.type === "read" ? [{ path: resolve(cwd, action.path) }] : [],
    ),
    input: { command, cwd },
    outputs: [{ type: "command", command, cwd, output: aggregatedOutput }, ...textOutput(stoppedText(item))],
    exitCode,
    ...(status === "inProgress" ? {} : { result: { exitCode, output: aggregatedOutput, ...omitted } }),
  };
}

/** A command that only reads or searches is shown as that. */
function kindOfActions(actions: readonly CommandAction[]): ToolKind {
  if (actions.length === 0 || actions.some(({ type }) => type === "unknown")) return "execute";
  return actions.every(({ type }) => type === "read") ? "read" : "search";
}

function changeView({ id, changes, status, output }: Item<"fileChange">): ToolView {
  const summary = changes.map(({ path, kind, movePath }) => ({ path, kind, movePath }));
  return {
    ...inProgress(id, "edit", changesTitle(changes), changesKind(changes)),
    ...stateOf(status),
    locations: changes.flatMap(locationsOf),
    input: { changes: summary },
    outputs: [{ type: "changes", changes }, ...textOutput(output ?? "")],
    ...(status === "inProgress"
      ? {}
      : { result: { status, files: summary.map(({ path }) => path), output } }),
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
    ...inProgress(id, `mcp__${server}__${tool}`, `${tool} (${server})`, "other"),
    ...stateOf(status),
    input,
    outputs: textOutput(error ?? textOf(result)),
    ...given,
  };
}

function plainView({ id, tool, title, arguments: input, status, result, error }: Item<"toolCall">): ToolView {
  const locations = locationsIn(input);
  const [first] = locations;
  const kind = KINDS.find(([pattern]) => pattern.test(tool))?.[1] ?? "other";
  const given = status === "inProgress" ? {} : { result: error === undefined ? result : { error } };
  return {
    ...inProgress(id, tool, title ?? (first === undefined ? tool : `${tool} ${first.path}`), kind),
    ...stateOf(status),
    locations,
    input,
    outputs: textOutput(error ?? textOf(result)),
    ...given,
  };
}

/** An item without a status is complete as soon as it is reported. */
function searchView({ id, query }: Item<"webSearch">): ToolView {
  const view = inProgress(id, "web_search", `Search the web: ${query}`, "fetch");
  return { ...view, status: "completed", input: { query } };
}

function handoffView({ id, fromAgent, toAgent, missedTurns }: Item<"agentHandoff">): ToolView {
  const view = inProgress(id, "agent_handoff", `${toAgent} continues from ${fromAgent}`, "switch_mode");
  return { ...view, status: "completed", input: { fromAgent, toAgent, missedTurns } };
}

/** Shows a message of a sub-agent; the agent's own answer is a message. */
function subAgentView({ id, text }: Item<"subAgentMessage">): ToolView {
  return {
    ...inProgress(id, "sub_agent", "Sub-agent", "think"),
    status: "completed",
    outputs: textOutput(text),
  };
}

function hookView({ id, event, name, status, output = "" }: Item<"hookRun">): ToolView {
  const view = inProgress(id, "hook", `Hook: ${name ?? event}`, "other");
  const hasEnded = status === "blocked" || status === "stopped" ? "failed" : status;
  return { ...view, ...stateOf(hasEnded), input: { event }, outputs: textOutput(output) };
}

/** An item that only its agent knows as a tool call: its type is the title, its fields are the result. */
export function extensionView({ id, type, ...fields }: ExtensionItem): ToolView {
  return { ...inProgress(id, type, type, "other"), status: "completed", result: fields };
}

/** ACP has no declined tool calls; they are failed ones. */
function stateOf(status: "inProgress" | "completed" | "failed" | "declined"): Pick<ToolView, "status"> {
  switch (status) {
    case "inProgress":
      return { status: "in_progress" };
    case "completed":
      return { status };
    case "failed":
    case "declined":
      return { status: "failed" };
  }
}

function textOutput(text: string): ToolOutput[] {
  return text === "" ? [] : [{ type: "text", text }];
}

function textOf(result: unknown): string {
  if (result === undefined || result === null) return "";
  if (typeof result === "string") return result;
  return contentText(result) ?? JSON.stringify(result, undefined, 2);
}

/** The text blocks of an MCP result. */
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
