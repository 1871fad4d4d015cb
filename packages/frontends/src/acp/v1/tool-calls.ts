import type { SessionUpdate, ToolCallContent, ToolCallUpdate } from "@agentclientprotocol/sdk";
import type { FileUpdateChange } from "@flint/protocol";
import { textBlock } from "../views/content.ts";
import { hunksOf } from "../views/patch-hunks.ts";
import type { ToolOutput, ToolView } from "../views/tool-view.ts";

/** Number of characters of a command's output that a client without terminals is sent. */
const SHOWN_OUTPUT = 64 * 1024;

/** The fields of a tool call in updates and permission requests. A terminal has the id of its tool call. */
export function toolCallFields(view: ToolView, terminals: boolean): ToolCallUpdate & { title: string } {
  const { id, name, title, kind, status, locations, input, result } = view;
  return {
    toolCallId: id,
    title,
    name,
    kind,
    status,
    content: contentOf(view, terminals),
    locations: [...locations],
    ...(input === undefined ? {} : { rawInput: input }),
    ...(result === undefined ? {} : { rawOutput: result }),
  };
}

/** A tool call that the client does not have yet. */
export function newToolCall(view: ToolView, terminals: boolean): SessionUpdate {
  const fields = toolCallFields(view, terminals);
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
    ...terminalMeta(view, terminals, true),
  };
}

/** A change of a tool call that the client has. */
export function changedToolCall(view: ToolView, terminals: boolean): SessionUpdate {
  return {
    sessionUpdate: "tool_call_update",
    ...toolCallFields(view, terminals),
    ...terminalMeta(view, terminals, false),
  };
}

/** A chunk of a command's output, for a client with terminals. */
export function terminalOutput(toolCallId: string, data: string): SessionUpdate {
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

function contentOf({ id, outputs }: ToolView, terminals: boolean): ToolCallContent[] {
  return outputs.flatMap((output) => contentsOf(id, output, terminals));
}

function contentsOf(id: string, output: ToolOutput, terminals: boolean): ToolCallContent[] {
  switch (output.type) {
    case "text":
      return [textContent(output.text)];
    case "command":
      if (terminals) return [{ type: "terminal", terminalId: id }];
      return output.output === "" ? [] : [textContent(consoleText(output.output))];
    case "terminal":
      return [{ type: "terminal", terminalId: output.terminalId }];
    case "changes":
      return output.changes.flatMap(diffsOf);
  }
}

/** One diff for each hunk; a change without hunks is shown as the agent described it. */
function diffsOf({ path, kind, diff, movePath }: FileUpdateChange): ToolCallContent[] {
  const newPath = movePath ?? path;
  const hunks = hunksOf(diff);
  const meta = { _meta: { kind, ...(movePath === undefined ? {} : { movedFrom: path }) } };
  if (hunks.length > 0) {
    return hunks.map(({ oldText, newText }) => ({
      ...{ type: "diff", path: newPath, newText, ...meta },
      oldText: kind === "add" ? null : oldText,
    }));
  }
  if (movePath !== undefined || kind === "modify") return diff === "" ? [] : [textContent(diff)];
  return [
    {
      type: "diff",
      path: newPath,
      oldText: kind === "add" ? null : diff,
      newText: kind === "add" ? diff : "",
      ...meta,
    },
  ];
}

function terminalMeta(view: ToolView, terminals: boolean, isNew: boolean) {
  const [command] = view.outputs.flatMap((output) => (output.type === "command" ? [output] : []));
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

/** Fenced, so that it is not rendered as markup, and cut at the start: the end of an output matters more. */
function consoleText(output: string): string {
  const shown = output.length <= SHOWN_OUTPUT ? output : `…${output.slice(-SHOWN_OUTPUT)}`;
  const fence = longestFence(shown);
  return `${fence}console\n${shown.replace(/\n$/, "")}\n${fence}`;
}

function longestFence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  return "`".repeat(longest + 1);
}
