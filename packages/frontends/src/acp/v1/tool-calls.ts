import type { SessionUpdate, ToolCallContent, ToolCallUpdate } from "@agentclientprotocol/sdk";
import type { FileUpdateChange } from "@flint/protocol";
import { textBlock } from "../views/content.ts";
import { hunksOf } from "../views/patch-hunks.ts";
import type { Place, ToolOutput, ToolView } from "../views/tool-view.ts";

/** How a tool call is shown. */
export interface ToolShowing {
  /** Whether the client shows output in terminals; they have the ids of their tool calls. */
  readonly terminals: boolean;
}

/** The most of a command's output that a client without terminals is shown at a time. */
const SHOWN_OUTPUT = 64 * 1024;

/** All of a tool call, as updates and requests for permission carry it. */
export function toolCallFields(
  view: ToolView,
  { terminals }: ToolShowing,
): ToolCallUpdate & { title: string } {
  const { id, name, title, kind, status, places, input, result } = view;
  return {
    toolCallId: id,
    title,
    name,
    kind,
    status,
    content: contentOf(view, terminals),
    locations: places.map(locationOf),
    ...(input === undefined ? {} : { rawInput: input }),
    ...(result === undefined ? {} : { rawOutput: result }),
  };
}

/** A tool call that the client does not know yet. */
export function newToolCall(view: ToolView, showing: ToolShowing): SessionUpdate {
  const fields = toolCallFields(view, showing);
  const { name, kind, status, content, locations, ...rest } = fields;
  const known = {
    ...(kind ? { kind } : {}),
    ...(status ? { status } : {}),
    ...(content ? { content } : {}),
    ...(locations ? { locations } : {}),
  };
  return {
    sessionUpdate: "tool_call",
    ...rest,
    name: name ?? null,
    ...known,
    ...terminalMeta(view, showing, true),
  };
}

/** What became of a tool call that the client knows. */
export function changedToolCall(view: ToolView, showing: ToolShowing): SessionUpdate {
  return {
    sessionUpdate: "tool_call_update",
    ...toolCallFields(view, showing),
    ...terminalMeta(view, showing, false),
  };
}

/** A piece of a command's output, for a client with terminals. */
export function terminalPiece(toolCallId: string, data: string): SessionUpdate {
  return {
    sessionUpdate: "tool_call_update",
    toolCallId,
    _meta: { terminal_output: { terminal_id: toolCallId, data } },
  };
}

/** The output of a command so far, for a client without terminals. */
export function outputSoFar(toolCallId: string, output: string): SessionUpdate {
  return {
    sessionUpdate: "tool_call_update",
    toolCallId,
    status: "in_progress",
    content: [textContent(consoleText(output))],
  };
}

function contentOf({ id, shows }: ToolView, terminals: boolean): ToolCallContent[] {
  return shows.flatMap((shown) => contentsOf(id, shown, terminals));
}

function contentsOf(id: string, shown: ToolOutput, terminals: boolean): ToolCallContent[] {
  switch (shown.type) {
    case "text":
      return [textContent(shown.text)];
    case "command":
      if (terminals) return [{ type: "terminal", terminalId: id }];
      return shown.output === "" ? [] : [textContent(consoleText(shown.output))];
    case "changes":
      return shown.changes.flatMap(diffsOf);
  }
}

/** One piece of content for each place of the file that changes, as far as it was told. */
function diffsOf({ path, kind, diff, movePath }: FileUpdateChange): ToolCallContent[] {
  const place = movePath ?? path;
  const hunks = hunksOf(diff);
  const meta = { _meta: { kind, ...(movePath === undefined ? {} : { movedFrom: path }) } };
  if (hunks.length > 0) {
    return hunks.map(({ oldText, newText }) => ({
      ...{ type: "diff", path: place, newText, ...meta },
      oldText: kind === "add" ? null : oldText,
    }));
  }
  if (movePath !== undefined || kind === "modify") return diff === "" ? [] : [textContent(diff)];
  return [
    {
      type: "diff",
      path: place,
      oldText: kind === "add" ? null : diff,
      newText: kind === "add" ? diff : "",
      ...meta,
    },
  ];
}

function locationOf({ path, line }: Place): { path: string; line?: number } {
  return line === undefined ? { path } : { path, line };
}

function terminalMeta(view: ToolView, { terminals }: ToolShowing, isNew: boolean) {
  const [command] = view.shows.flatMap((shown) => (shown.type === "command" ? [shown] : []));
  if (!terminals || command === undefined) return {};
  const ended = view.status === "completed" || view.status === "failed";
  return {
    _meta: {
      ...(isNew ? { terminal_info: { terminal_id: view.id, cwd: command.cwd } } : {}),
      ...(isNew && command.output !== ""
        ? { terminal_output: { terminal_id: view.id, data: command.output } }
        : {}),
      ...(ended
        ? { terminal_exit: { terminal_id: view.id, exit_code: view.exitCode ?? null, signal: null } }
        : {}),
    },
  };
}

function textContent(text: string): ToolCallContent {
  return { type: "content", content: textBlock(text) };
}

/** In a block of its own, so that it is not read as markup; its end matters more than its beginning. */
function consoleText(output: string): string {
  const shown = output.length <= SHOWN_OUTPUT ? output : `…${output.slice(-SHOWN_OUTPUT)}`;
  const fence = longestFence(shown);
  return `${fence}console\n${shown.replace(/\n$/, "")}\n${fence}`;
}

function longestFence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  return "`".repeat(longest + 1);
}
