import type { DriverEvent } from "@flint/core/ports";
import type { ClaudeBlock } from "@flint/protocol/claude";
import { beginPatch, type PatchFields, streamPatch } from "../../shared/streamed-patch.ts";
import { newItemId, type Step, type TranslateState, withoutText, withTool } from "./state.ts";

/** The fields that become a patch, by tool. */
const FIELDS: Readonly<Record<string, PatchFields>> = {
  Write: { path: "file_path", prefixes: { content: "+" }, kind: "add" },
  Edit: { path: "file_path", prefixes: { old_string: "-", new_string: "+" }, kind: "modify" },
  NotebookEdit: { path: "notebook_path", prefixes: { new_source: "+" }, kind: "modify" },
};

/** Begins to follow the input of a file tool; that of any other tool is shown when it is complete. */
export function beginInput(state: TranslateState, { type, id, name = "" }: ClaudeBlock): TranslateState {
  const fields = FIELDS[name];
  if (type !== "tool_use" || id === undefined || fields === undefined)
    return state.file === undefined ? state : { ...state, file: undefined };
  return { ...state, file: { toolUseId: id, name, patch: beginPatch(fields) } };
}

/** Shows the next part of the input as lines of a patch. The item has its changes once the input is complete. */
export function streamInput(state: TranslateState, json: string): Step {
  const { file } = state;
  if (file === undefined) return [state, []];
  const { patch, hasBegun, delta, changes } = streamPatch(file.patch, json, state.cwd);
  const next: TranslateState = { ...state, file: { ...file, patch } };
  if (!hasBegun) return [next, []];
  const [started, before] = next.tools.has(file.toolUseId) ? [next, []] : startFile(next);
  const itemId = started.tools.get(file.toolUseId)?.itemId;
  if (itemId === undefined) return [started, before];
  const streamed: DriverEvent[] = [];
  if (delta !== "") streamed.push({ type: "item/fileChange/outputDelta", itemId, delta });
  if (changes !== undefined) streamed.push({ type: "item/fileChange/patchUpdated", itemId, changes });
  return [started, [...before, ...streamed]];
}

/** The item of a file tool starts with the first line that is streamed. */
function startFile(state: TranslateState): Step {
  const { file } = state;
  if (file === undefined) return [state, []];
  const [closed, ended] = withoutText(state);
  const [next, itemId] = newItemId(closed);
  const item = { type: "fileChange", id: itemId, changes: [], status: "inProgress" } as const;
  const { toolUseId, name } = file;
  const tool = { itemId, name, input: {}, item, isDone: false, isDeclined: false, isStreaming: true };
  return [withTool(next, toolUseId, tool), [...ended, { type: "item/started", item }]];
}
