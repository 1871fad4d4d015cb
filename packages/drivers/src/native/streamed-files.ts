import { resolve } from "node:path";
import type { ModelPart } from "@flint/agent/model";
import type { DriverEvent } from "@flint/core/ports";
import { beginPatch, type PatchFields, type StreamedPatch, streamPatch } from "../shared/streamed-patch.ts";
import { closeText, type ItemStream, takeItemId } from "../shared/translate.ts";

/** The fields of the file tools that become a patch. */
const FIELDS: Readonly<Record<string, PatchFields>> = {
  write_file: { path: "path", prefixes: { content: "+" }, kind: "add" },
  edit_file: { path: "path", prefixes: { old_text: "-", new_text: "+" }, kind: "modify" },
  apply_patch: { path: undefined, prefixes: { patch: "" }, kind: "modify" },
};

/** A call of a file tool that the model is writing, or has written. */
interface StreamedFile {
  readonly patch: StreamedPatch;
  /** Undefined until the item has started. */
  readonly itemId: string | undefined;
  /** True if the call is complete, so that its tool ends the item. */
  readonly isComplete: boolean;
}

/** The calls of file tools in one response, by their ids. */
export type StreamedFiles = ReadonlyMap<string, StreamedFile>;

/** The part of a translator's state that this changes, and the events to emit. */
type FilesStep = readonly [ItemStream, StreamedFiles, readonly DriverEvent[]];

type InputPart = Extract<ModelPart, { type: "tool-input" }>;

/** Shows the next part of a file tool's input as lines of a patch. Its item starts with the first of them. */
export function streamFile(
  stream: ItemStream,
  files: StreamedFiles,
  { callId, tool, json }: InputPart,
  cwd: string,
): FilesStep {
  const fields = FIELDS[tool];
  if (fields === undefined) return [stream, files, []];
  const known = files.get(callId) ?? { patch: beginPatch(fields), itemId: undefined, isComplete: false };
  const { patch, hasBegun, delta, changes } = streamPatch(known.patch, json, cwd);
  const withFile = (itemId: string | undefined) => new Map(files).set(callId, { ...known, patch, itemId });
  if (!hasBegun) return [stream, withFile(undefined), []];
  const [next, itemId, started] =
    known.itemId === undefined ? startFile(stream) : ([stream, known.itemId, []] as const);
  const events = [...started];
  if (delta !== "") events.push({ type: "item/fileChange/outputDelta", itemId, delta });
  if (changes !== undefined) {
    const resolved = changes.map((change) => ({ ...change, path: resolve(cwd, change.path) }));
    events.push({ type: "item/fileChange/patchUpdated", itemId, changes: resolved });
  }
  return [next, withFile(itemId), events];
}

function startFile(stream: ItemStream): readonly [ItemStream, string, readonly DriverEvent[]] {
  const [closed, ended] = closeText(stream);
  const [next, itemId] = takeItemId(closed);
  const item = { type: "fileChange", id: itemId, changes: [], status: "inProgress" } as const;
  return [next, itemId, [...ended, { type: "item/started", item }]];
}

/** The call is complete: its tool ends the item. */
export function completeFile(files: StreamedFiles, callId: string): StreamedFiles {
  const file = files.get(callId);
  return file === undefined ? files : new Map(files).set(callId, { ...file, isComplete: true });
}

const BROKE_OFF = "The answer of the model broke off before the change was complete.";

/** Ends the items of the calls that the response broke off. */
export function endBrokenFiles(files: StreamedFiles): readonly [StreamedFiles, readonly DriverEvent[]] {
  const broken = [...files].filter(([, { isComplete }]) => !isComplete);
  if (broken.length === 0) return [files, []];
  const events = broken.flatMap(([, { itemId: id }]): DriverEvent[] => {
    if (id === undefined) return [];
    const item = { type: "fileChange", id, changes: [], status: "failed", output: BROKE_OFF } as const;
    return [{ type: "item/completed", item }];
  });
  return [new Map([...files].filter(([, { isComplete }]) => isComplete)), events];
}
