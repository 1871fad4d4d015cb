import type {
  DiffChange,
  SessionUpdate,
  ToolCallContent,
  ToolCallUpdate,
} from "@agentclientprotocol/sdk/experimental/v2";
import type { FileUpdateChange } from "@flint/protocol";
import { textBlock } from "../views/content.ts";
import type { ToolOutput, ToolView } from "../views/tool-view.ts";

/** A tool call, after the terminal that it shows. */
export function toolCallUpdates(view: ToolView, isNew: boolean): SessionUpdate[] {
  const call: SessionUpdate = { sessionUpdate: "tool_call_update", ...toolCallFields(view) };
  return [...terminalUpdates(view, isNew), call];
}

/** The fields of a tool call in updates and permission requests. */
export function toolCallFields(view: ToolView): ToolCallUpdate {
  const { id, name, title, kind, status, locations, input, result, outputs } = view;
  return {
    toolCallId: id,
    title,
    name,
    kind,
    status,
    content: outputs.flatMap((output) => contentOf(id, output)),
    locations: locations.filter(({ path }) => path.startsWith("/")),
    ...(input === undefined ? {} : { rawInput: input }),
    ...(result === undefined ? {} : { rawOutput: result }),
  };
}

/** A chunk of a command's output. */
export function terminalChunk(terminalId: string, text: string): SessionUpdate {
  return { sessionUpdate: "terminal_output_chunk", terminalId, data: encoded(text) };
}

/** The terminal of a command: what it runs if it is new, and how it exited. */
function terminalUpdates({ id, outputs, status, exitCode }: ToolView, isNew: boolean): SessionUpdate[] {
  const [command] = outputs.flatMap((output) => (output.type === "command" ? [output] : []));
  if (command === undefined) return [];
  const code = exitCode === undefined ? null : Math.trunc(exitCode);
  const ended = status === "in_progress" || status === "pending" ? {} : { exitStatus: { exitCode: code } };
  const terminal = { command: command.command, cwd: command.cwd, ...soFar(command.output) };
  if (!isNew && status === "in_progress") return [];
  return [{ sessionUpdate: "terminal_update", terminalId: id, ...(isNew ? terminal : {}), ...ended }];
}

function soFar(output: string) {
  return output === "" ? {} : { output: { data: encoded(output) } };
}

function contentOf(id: string, output: ToolOutput): ToolCallContent[] {
  switch (output.type) {
    case "text":
      return [{ type: "content", content: textBlock(output.text) }];
    case "command":
      return [{ type: "terminal", terminalId: id }];
    case "terminal":
      return [{ type: "terminal", terminalId: output.terminalId }];
    case "changes": {
      const { changes } = output;
      const patch = { format: "git_patch", text: changes.map(gitPatch).join("") };
      return [{ type: "diff", changes: changes.map(changeOf), ...(patch.text === "" ? {} : { patch }) }];
    }
  }
}

function changeOf({ path, kind, movePath }: FileUpdateChange): DiffChange {
  if (movePath !== undefined) return { operation: "move", oldPath: path, path: movePath };
  switch (kind) {
    case "add":
      return { operation: "add", path };
    case "modify":
      return { operation: "modify", path };
    case "delete":
      return { operation: "delete", path };
  }
}

/** The diff with a git header, unless it has one. */
function gitPatch({ path, kind, diff, movePath }: FileUpdateChange): string {
  if (diff === "" || diff.startsWith("diff --git")) return diff;
  const [from, to] = [path, movePath ?? path].map((name) => name.replace(/^\//, ""));
  const modes = { add: "new file mode 100644\n", delete: "deleted file mode 100644\n", modify: "" };
  return `diff --git a/${from} b/${to}\n${modes[kind]}${diff.endsWith("\n") ? diff : `${diff}\n`}`;
}

function encoded(text: string): string {
  return Buffer.from(text).toString("base64");
}
