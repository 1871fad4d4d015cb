import type {
  DiffChange,
  SessionUpdate,
  ToolCallContent,
  ToolCallUpdate,
} from "@agentclientprotocol/sdk/experimental/v2";
import type { FileUpdateChange } from "@flint/protocol";
import { textBlock } from "../views/content.ts";
import type { Place, ToolOutput, ToolView } from "../views/tool-view.ts";

type ToolStatus = "pending" | "in_progress" | "completed" | "failed";

/** All of a tool call. A command's terminal is told before the call that shows it. */
export function toolCallUpdates(view: ToolView, isNew: boolean): SessionUpdate[] {
  const call: SessionUpdate = { sessionUpdate: "tool_call_update", ...toolCallFields(view, view.status) };
  return [...terminalUpdates(view, isNew), call];
}

/** What updates and requests for permission carry of a tool call. */
export function toolCallFields(view: ToolView, status: ToolStatus): ToolCallUpdate {
  const { id, name, title, kind, places, input, result, shows } = view;
  return {
    toolCallId: id,
    title,
    name,
    kind,
    status,
    content: shows.flatMap((shown) => contentOf(id, shown)),
    locations: places.filter(({ path }) => path.startsWith("/")).map(locationOf),
    ...(input === undefined ? {} : { rawInput: input }),
    ...(result === undefined ? {} : { rawOutput: result }),
  };
}

/** A piece of a command's output. */
export function terminalChunk(terminalId: string, text: string): SessionUpdate {
  return { sessionUpdate: "terminal_output_chunk", terminalId, data: encoded(text) };
}

/** The terminal of a command: what it runs when it is new, how it ended when it has. */
export function terminalUpdates({ id, shows, status, exitCode }: ToolView, isNew: boolean): SessionUpdate[] {
  const [command] = shows.flatMap((shown) => (shown.type === "command" ? [shown] : []));
  if (command === undefined) return [];
  const ended =
    status === "in_progress" || status === "pending" ? {} : { exitStatus: { exitCode: exitCode ?? null } };
  const begun = { command: command.command, cwd: command.cwd, ...soFar(command.output) };
  if (!isNew && status === "in_progress") return [];
  return [{ sessionUpdate: "terminal_update", terminalId: id, ...(isNew ? begun : {}), ...ended }];
}

function soFar(output: string) {
  return output === "" ? {} : { output: { data: encoded(output) } };
}

function contentOf(id: string, shown: ToolOutput): ToolCallContent[] {
  switch (shown.type) {
    case "text":
      return [{ type: "content", content: textBlock(shown.text) }];
    case "command":
      return [{ type: "terminal", terminalId: id }];
    case "changes": {
      const { changes } = shown;
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

/** The diff with the head that git has before it, unless it is there already. */
function gitPatch({ path, kind, diff, movePath }: FileUpdateChange): string {
  if (diff === "" || diff.startsWith("diff --git")) return diff;
  const [from, to] = [path, movePath ?? path].map((name) => name.replace(/^\//, ""));
  const modes = { add: "new file mode 100644\n", delete: "deleted file mode 100644\n", modify: "" };
  return `diff --git a/${from} b/${to}\n${modes[kind]}${diff.endsWith("\n") ? diff : `${diff}\n`}`;
}

function locationOf({ path, line }: Place): { path: string; line?: number } {
  return line === undefined ? { path } : { path, line };
}

function encoded(text: string): string {
  return Buffer.from(text).toString("base64");
}
