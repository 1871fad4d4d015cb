import type { DriverEvent } from "@flint/core/ports";
import type { ClaudeBlock } from "@flint/protocol/claude";
import { displayPath } from "../../shared/translate.ts";
import { newItemId, type Step, type TranslateState, withoutText, withTool } from "./state.ts";
import { type FieldPiece, NO_INPUT, scanInput } from "./streamed-input.ts";

const PATHS: ReadonlySet<string> = new Set(["file_path", "notebook_path"]);

/** The fields that become lines of a patch, by tool. */
const MARKS: Readonly<Record<string, Readonly<Record<string, "+" | "-">>>> = {
  Write: { content: "+" },
  Edit: { old_string: "-", new_string: "+" },
  NotebookEdit: { new_source: "+" },
};

/** Begins to follow the input of a file tool; that of any other tool is shown when it is complete. */
export function beginInput(state: TranslateState, { type, id, name }: ClaudeBlock): TranslateState {
  const isFile = type === "tool_use" && id !== undefined && name !== undefined && MARKS[name] !== undefined;
  if (!isFile) return state.file === undefined ? state : { ...state, file: undefined };
  const file = { toolUseId: id, name, scan: NO_INPUT, path: "", field: "", isLineStart: true };
  return { ...state, file };
}

/** Shows the next part of the input as lines of a patch. The item has its changes once the input is complete. */
export function streamInput(state: TranslateState, json: string): Step {
  const { file } = state;
  if (file === undefined) return [state, []];
  const [scan, pieces] = scanInput(file.scan, json);
  let next: TranslateState = { ...state, file: { ...file, scan } };
  const events: DriverEvent[] = [];
  for (const piece of pieces) {
    const [after, emitted] = showPiece(next, piece);
    next = after;
    events.push(...emitted);
  }
  return [next, events];
}

function showPiece(state: TranslateState, { field, text }: FieldPiece): Step {
  const { file } = state;
  if (file === undefined) return [state, []];
  if (PATHS.has(field)) return [{ ...state, file: { ...file, path: file.path + text } }, []];
  const sign = MARKS[file.name]?.[field];
  if (sign === undefined) return [state, []];
  const [started, before] = state.tools.has(file.toolUseId) ? [state, []] : startFile(state);
  const isNew = field !== file.field;
  const lines = signed(text, sign, isNew || file.isLineStart);
  const streamed = file.field !== "" && isNew && !file.isLineStart ? `\n${lines}` : lines;
  const isLineStart = text === "" ? isNew || file.isLineStart : text.endsWith("\n");
  const next = { ...started, file: { ...file, field, isLineStart } };
  const itemId = started.tools.get(file.toolUseId)?.itemId;
  if (itemId === undefined || streamed === "") return [next, before];
  return [next, [...before, { type: "item/fileChange/outputDelta", itemId, delta: streamed }]];
}

/** The item of a file tool starts with the first line that is streamed. */
function startFile(state: TranslateState): Step {
  const { file } = state;
  if (file === undefined) return [state, []];
  const [closed, ended] = withoutText(state);
  const [next, itemId] = newItemId(closed);
  const item = { type: "fileChange", id: itemId, changes: [], status: "inProgress" } as const;
  const { toolUseId, name, path } = file;
  const tool = { itemId, name, input: {}, item, isDone: false, isDeclined: false, isStreaming: true };
  const header = path === "" ? "" : `+++ b/${displayPath(path, state.cwd)}\n`;
  const headed: DriverEvent[] =
    header === "" ? [] : [{ type: "item/fileChange/outputDelta", itemId, delta: header }];
  return [withTool(next, toolUseId, tool), [...ended, { type: "item/started", item }, ...headed]];
}

/** Text with a sign at the start of each line. */
function signed(text: string, sign: string, isLineStart: boolean): string {
  const body = text.replace(/\n(?!$)/g, `\n${sign}`);
  return isLineStart && text !== "" ? sign + body : body;
}
