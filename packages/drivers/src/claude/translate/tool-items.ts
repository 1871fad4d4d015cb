import { type FileUpdateChange, type Item, isKnownItem, type ThreadItem } from "@flint/protocol";
import { contentText, isRecord, textField } from "../fields.ts";
import { mcpNames, toolKind } from "./tool-names.ts";

/** The use of a tool as Claude tells it, and what is known beside it. */
export interface ToolCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly cwd: string;
  /** What it means for the files, if it is known. */
  readonly changes: readonly FileUpdateChange[] | undefined;
}

/** How the use of a tool ended. */
export interface ToolResult {
  /** What the model is told: a text or a list of blocks. */
  readonly content: unknown;
  readonly isError: boolean;
  readonly isDeclined: boolean;
  /** The tool's own result, of whatever shape. */
  readonly detail: unknown;
  /** What became of the files, if it is known. */
  readonly changes: readonly FileUpdateChange[] | undefined;
}

/** The item that shows the use of a tool; undefined for what is shown as a plan or as the answer of the turn. */
export function startedItem(id: string, call: ToolCall): ThreadItem | undefined {
  const { name, input, cwd, changes } = call;
  switch (toolKind(name)) {
    case "command":
      return {
        type: "commandExecution",
        id,
        command: textField(input, "command") ?? "",
        cwd,
        status: "inProgress",
      };
    case "file":
      if (changes === undefined) return plainItem(id, call);
      return { type: "fileChange", id, changes: [...changes], status: "inProgress" };
    case "mcp":
      return { type: "mcpToolCall", id, ...mcpNames(name), arguments: { ...input }, status: "inProgress" };
    case "search":
      return { type: "webSearch", id, query: textField(input, "query") ?? "" };
    case "plan":
    case "answer":
      return undefined;
    case "other":
      return plainItem(id, call);
  }
}

/** The same item when its result is there. */
export function finishedItem(item: ThreadItem, result: ToolResult): ThreadItem {
  if (!isKnownItem(item)) return item;
  switch (item.type) {
    case "commandExecution":
      return { ...item, status: statusOf(result), ...outputOf(result) };
    case "fileChange": {
      const changes = result.changes === undefined ? {} : { changes: [...result.changes] };
      const output = result.isError && !result.isDeclined ? { output: contentText(result.content) } : {};
      return { ...item, status: statusOf(result), ...changes, ...output };
    }
    case "mcpToolCall": {
      const error = contentText(result.content);
      if (result.isError) return { ...item, status: "failed", error };
      return { ...item, status: "completed", result: { content: result.content } };
    }
    case "toolCall": {
      const text = ownText(result.detail) ?? contentText(result.content);
      return { ...item, status: statusOf(result), ...(result.isError ? { error: text } : { result: text }) };
    }
    default:
      return item;
  }
}

function plainItem(id: string, { name, input }: ToolCall): Item<"toolCall"> {
  const title = textField(input, "description");
  const shown = { type: "toolCall", id, tool: name, arguments: input, status: "inProgress" } as const;
  return title === undefined ? shown : { ...shown, title };
}

/** What a sub-agent said, without what Claude adds for the model. */
function ownText(detail: unknown): string | undefined {
  return isRecord(detail) && Array.isArray(detail.content) ? contentText(detail.content) : undefined;
}

function statusOf({ isError, isDeclined }: ToolResult): "completed" | "failed" | "declined" {
  if (isDeclined) return "declined";
  return isError ? "failed" : "completed";
}

type Output = Pick<Item<"commandExecution">, "aggregatedOutput" | "exitCode">;

/** Claude tells the exit code of a command only in words, and only if it is not 0. */
function outputOf({ content, detail, isError, isDeclined }: ToolResult): Output {
  if (isDeclined) return {};
  const text = contentText(content);
  if (!isError) {
    const isKept = textField(detail, "backgroundTaskId") !== undefined;
    return {
      aggregatedOutput: isRecord(detail) ? bothStreams(detail) : text,
      ...(isKept ? {} : { exitCode: 0 }),
    };
  }
  const [line, code] = /^Exit code (\d+)\n?/.exec(text) ?? [];
  if (line === undefined) return { aggregatedOutput: text };
  return { aggregatedOutput: text.slice(line.length), exitCode: Number(code) };
}

function bothStreams(detail: Readonly<Record<string, unknown>>): string {
  const written = [textField(detail, "stdout"), textField(detail, "stderr")];
  return written.filter((text) => text !== undefined && text !== "").join("\n");
}
