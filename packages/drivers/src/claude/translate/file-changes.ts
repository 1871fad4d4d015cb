import { resolve } from "node:path";
import { readRegularText, UNREADABLE, unifiedDiff } from "@flint/host/files";
import { type FileUpdateChange, isRecord, parsedJson } from "@flint/protocol";
import { blocksOf, type ClaudeFrame } from "@flint/protocol/claude";
import { type JsonObject, objectOf, stringField } from "../../shared/json.ts";
import { displayPath } from "../../shared/translate.ts";
import type { FileChanges, ToolUse } from "./state.ts";
import { toolKind } from "./tools.ts";

type Changes = readonly FileUpdateChange[];

/** Larger files are shown without a diff. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Reports whether a frame can only be translated with a look at the files. */
export function concernsFiles(frame: ClaudeFrame, tools: ReadonlyMap<string, ToolUse>): boolean {
  if (frame.type !== "assistant" && frame.type !== "user") return false;
  return blocksOf(frame.message).some(({ name, tool_use_id: ended }) => {
    const used = name ?? tools.get(ended ?? "")?.name;
    return used !== undefined && toolKind(used) === "file";
  });
}

/** Returns the changes that the file tools in a frame are about to make, or have made. Never rejects. */
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

/**
 * Returns the changes that a file tool would make to the present file; undefined if they are unknown. Never
 * rejects.
 */
export async function plannedChanges(
  name: string,
  input: JsonObject,
  cwd: string,
): Promise<Changes | undefined> {
  const path = pathOf(input, cwd);
  if (path === undefined) return undefined;
  const before = await readRegularText(path, MAX_BYTES);
  if (before === UNREADABLE) return undefined;
  const after = contentAfter(name, input, before);
  return after === undefined ? undefined : [await changeOf(path, cwd, before, after)];
}

/** Returns the changes that a file tool has made: from the original that it names to the present file. */
async function appliedChanges(input: JsonObject, detail: unknown, cwd: string): Promise<Changes | undefined> {
  const path = pathOf(input, cwd);
  const original = isRecord(detail) ? (detail.originalFile ?? detail.original_file) : undefined;
  if (path === undefined || (typeof original !== "string" && original !== null)) return undefined;
  const after = await readRegularText(path, MAX_BYTES);
  if (after === UNREADABLE || after === undefined) return undefined;
  return [await changeOf(path, cwd, original ?? undefined, after)];
}

/**
 * Returns the changes of a file tool according to its own result in the log of a session; undefined if that
 * does not show them.
 */
export async function recordedChanges(
  name: string,
  input: JsonObject,
  detail: unknown,
  cwd: string,
): Promise<Changes | undefined> {
  const path = toolKind(name) === "file" ? pathOf(input, cwd) : undefined;
  const original = isRecord(detail) ? detail.originalFile : undefined;
  if (path === undefined || (typeof original !== "string" && original !== null)) return undefined;
  const after = contentAfter(name, input, original ?? undefined);
  return after === undefined ? undefined : [await changeOf(path, cwd, original ?? undefined, after)];
}

function contentAfter(name: string, input: JsonObject, before: string | undefined): string | undefined {
  switch (name) {
    case "Write":
      return stringField(input, "content");
    case "Edit":
      return edited(before, [input]);
    case "MultiEdit":
      return Array.isArray(input.edits) ? edited(before, input.edits) : undefined;
    case "NotebookEdit":
      return before === undefined ? undefined : editedNotebook(before, input);
    default:
      return undefined;
  }
}

/** An edit of nothing creates a file. An edit that does not match is not shown; Claude reports it as failed. */
function edited(before: string | undefined, edits: readonly unknown[]): string | undefined {
  let text = before ?? "";
  for (const edit of edits) {
    const old = stringField(edit, "old_string");
    const next = stringField(edit, "new_string");
    if (old === undefined || next === undefined) return undefined;
    if (old === "" && text === "") text = next;
    else if (old === "" || !text.includes(old)) return undefined;
    else if (objectOf(edit).replace_all === true) text = text.split(old).join(next);
    else text = text.replace(old, () => next);
  }
  return text;
}

/** A notebook after one cell was edited; undefined for a new cell, which gets a random id. */
function editedNotebook(text: string, input: JsonObject): string | undefined {
  const notebook = parsedJson(text);
  const cells = isRecord(notebook) && Array.isArray(notebook.cells) ? notebook.cells : undefined;
  const source = stringField(input, "new_source");
  const mode = stringField(input, "edit_mode") ?? "replace";
  if (cells === undefined || source === undefined || mode === "insert") return undefined;
  const at = cellIndex(cells, stringField(input, "cell_id"));
  const cell: unknown = cells[at];
  if (!isRecord(cell)) return undefined;
  const changed = cells.flatMap((other: unknown, index): unknown[] => {
    if (index !== at) return [other];
    return mode === "delete" ? [] : [withSource(cell, source, stringField(input, "cell_type"))];
  });
  return JSON.stringify({ ...Object(notebook), cells: changed }, undefined, 1);
}

/** A cell without an id of its own is named by its index. */
function cellIndex(cells: readonly unknown[], cellId: string | undefined): number {
  if (cellId === undefined) return 0;
  const byId = cells.findIndex((cell) => stringField(cell, "id") === cellId);
  return byId === -1 ? Number(/^cell-(\d+)$/.exec(cellId)?.[1] ?? -1) : byId;
}

function withSource(cell: object, source: string, type: string | undefined): object {
  const kind = type ?? stringField(cell, "cell_type");
  const ran = kind === "code" ? { execution_count: null, outputs: [] } : {};
  return { ...cell, source, ...ran, ...(type === undefined ? {} : { cell_type: type }) };
}

async function changeOf(
  path: string,
  cwd: string,
  before: string | undefined,
  after: string,
): Promise<FileUpdateChange> {
  const shown = displayPath(path, cwd);
  const diff = await unifiedDiff({ path: shown, before, after });
  return { path: shown, kind: before === undefined ? "add" : "modify", diff };
}

function pathOf(input: JsonObject, cwd: string): string | undefined {
  const path = stringField(input, "file_path") ?? stringField(input, "notebook_path");
  return path === undefined || path === "" ? undefined : resolve(cwd, path);
}
