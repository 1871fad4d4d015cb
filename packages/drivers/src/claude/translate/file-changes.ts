import { isAbsolute, relative, resolve } from "node:path";
import { loadUnifiedDiff, plainText, UNREADABLE } from "@flint/host/files";
import type { FileUpdateChange } from "@flint/protocol";
import { blocksOf, type ClaudeFrame } from "@flint/protocol/claude";
import { isRecord, textField } from "../fields.ts";
import type { FileChanges, ToolUse } from "./state.ts";
import { toolKind } from "./tool-names.ts";

type Input = Readonly<Record<string, unknown>>;
type Changes = readonly FileUpdateChange[];

/** Larger files have no difference that anybody reads. */
const MOST_BYTES = 4 * 1024 * 1024;

/** Whether what a frame says can only be told with a look at the files. */
export function concernsFiles(frame: ClaudeFrame, tools: ReadonlyMap<string, ToolUse>): boolean {
  if (frame.type !== "assistant" && frame.type !== "user") return false;
  return blocksOf(frame.message).some(({ name, tool_use_id: ended }) => {
    const used = name ?? tools.get(ended ?? "")?.name;
    return used !== undefined && toolKind(used) === "file";
  });
}

/** What the file tools in a frame are about to do to the files, or have done. Never rejects. */
export async function fileChangesIn(
  frame: ClaudeFrame,
  tools: ReadonlyMap<string, ToolUse>,
  cwd: string,
): Promise<FileChanges> {
  const found = new Map<string, Changes>();
  if (frame.type !== "assistant" && frame.type !== "user") return found;
  for (const { id, name, input, tool_use_id: ended = "", is_error: isError } of blocksOf(frame.message)) {
    const tool = tools.get(ended);
    const isEnd = tool !== undefined && frame.type === "user" && isError !== true;
    if (isEnd && toolKind(tool.name) === "file") {
      const changes = await appliedChanges(tool.input, frame.tool_use_result, cwd);
      if (changes !== undefined) found.set(ended, changes);
    } else if (id !== undefined && name !== undefined && isRecord(input) && toolKind(name) === "file") {
      const changes = await plannedChanges(name, input, cwd);
      if (changes !== undefined) found.set(id, changes);
    }
  }
  return found;
}

/** What a file tool would do to the file as it is now; undefined if that cannot be told. Never rejects. */
export async function plannedChanges(name: string, input: Input, cwd: string): Promise<Changes | undefined> {
  const path = pathOf(input, cwd);
  if (path === undefined) return undefined;
  const before = await plainText(path, MOST_BYTES);
  if (before === UNREADABLE) return undefined;
  const after = await contentAfter(name, input, before);
  return after === undefined ? undefined : [await changeOf(path, cwd, before, after)];
}

/** What a file tool has done: from what it says was there before to what is there now. */
async function appliedChanges(input: Input, detail: unknown, cwd: string): Promise<Changes | undefined> {
  const path = pathOf(input, cwd);
  const original = isRecord(detail) ? (detail.originalFile ?? detail.original_file) : undefined;
  if (path === undefined || (typeof original !== "string" && original !== null)) return undefined;
  const after = await plainText(path, MOST_BYTES);
  if (after === UNREADABLE || after === undefined) return undefined;
  return [await changeOf(path, cwd, original ?? undefined, after)];
}

async function contentAfter(
  name: string,
  input: Input,
  before: string | undefined,
): Promise<string | undefined> {
  switch (name) {
    case "Write":
      return textField(input, "content");
    case "Edit":
      return edited(before, [input]);
    case "MultiEdit":
      return Array.isArray(input.edits) ? edited(before, input.edits) : undefined;
    case "NotebookEdit": {
      const { editedNotebook } = await import("./notebook.ts");
      return before === undefined ? undefined : editedNotebook(before, input);
    }
    default:
      return undefined;
  }
}

/** An edit of nothing makes a file. What cannot be found cannot be told either; Claude will say so. */
function edited(before: string | undefined, edits: readonly unknown[]): string | undefined {
  let text = before ?? "";
  for (const edit of edits) {
    const old = textField(edit, "old_string");
    const next = textField(edit, "new_string");
    if (old === undefined || next === undefined) return undefined;
    if (old === "" && text === "") text = next;
    else if (old === "" || !text.includes(old)) return undefined;
    else if (isRecord(edit) && edit.replace_all === true) text = text.split(old).join(next);
    else text = text.replace(old, () => next);
  }
  return text;
}

async function changeOf(
  path: string,
  cwd: string,
  before: string | undefined,
  after: string,
): Promise<FileUpdateChange> {
  const shown = shownPath(path, cwd);
  const diff = (await loadUnifiedDiff())({ path: shown, before, after });
  return { path: shown, kind: before === undefined ? "add" : "modify", diff };
}

function pathOf(input: Input, cwd: string): string | undefined {
  const path = textField(input, "file_path") ?? textField(input, "notebook_path");
  return path === undefined || path === "" ? undefined : resolve(cwd, path);
}

/** Relative to the workspace if the file lies in it. */
function shownPath(path: string, cwd: string): string {
  const inside = relative(cwd, path);
  return inside === "" || inside.startsWith("..") || isAbsolute(inside) ? path : inside;
}
