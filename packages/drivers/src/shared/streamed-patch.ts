import type { FileUpdateChange } from "@flint/protocol";
import { type InputScan, NO_INPUT, scanInput } from "./streamed-input.ts";
import { displayPath } from "./translate.ts";

/** The fields of a tool's input that make a patch. */
export interface PatchFields {
  /** The field with the path of the file; undefined if the patch itself names its files. */
  readonly path: string | undefined;
  /** The prefix of each line of a field; empty for a field that is a patch already. */
  readonly prefixes: Readonly<Record<string, "+" | "-" | "">>;
  readonly kind: "add" | "modify";
}

/** A patch of which the model is writing the tool input. */
export interface StreamedPatch {
  readonly fields: PatchFields;
  readonly scan: InputScan;
  readonly path: string;
  /** The field that was streamed last. */
  readonly field: string;
  readonly isLineStart: boolean;
  /** The lines so far, without the name of the file. */
  readonly lines: string;
  /** Number of lines that the last update of the changes had. */
  readonly shown: number;
}

/**
 * The new part of a patch: text to append, and all changes so far if enough was added since the last time.
 */
export interface PatchStep {
  readonly patch: StreamedPatch;
  /** True if any of its lines are known. */
  readonly hasBegun: boolean;
  readonly delta: string;
  readonly changes: readonly FileUpdateChange[] | undefined;
}

/** Longer patches are not updated any more before they are complete. */
const MAX_LINES = 262_144;

/** The changes are updated when the patch has grown by this many characters and a quarter, which bounds all updates together. */
const MIN_GROWTH = 400;

/** A patch of which nothing is known. */
export function beginPatch(fields: PatchFields): StreamedPatch {
  return { fields, scan: NO_INPUT, path: "", field: "", isLineStart: true, lines: "", shown: 0 };
}

/** Reads the next part of the input's JSON. The result of malformed JSON is malformed too; the whole input follows anyway. */
export function streamPatch(before: StreamedPatch, json: string, cwd: string): PatchStep {
  const [scan, pieces] = scanInput(before.scan, json);
  let patch: StreamedPatch = { ...before, scan };
  let delta = "";
  for (const { field, text } of pieces) {
    const sign = patch.fields.prefixes[field];
    if (field === patch.fields.path) patch = { ...patch, path: patch.path + text };
    else if (sign !== undefined) {
      if (patch.field === "" && patch.path !== "") delta += `+++ b/${displayPath(patch.path, cwd)}\n`;
      const lines = nextLines(patch, field, text, sign);
      delta += lines;
      const isLineStart = text === "" ? field !== patch.field || patch.isLineStart : text.endsWith("\n");
      patch = { ...patch, field, isLineStart, lines: joined(patch.lines, lines) };
    }
  }
  const hasBegun = patch.field !== "";
  const grown = patch.lines.length - patch.shown;
  if (grown < Math.max(MIN_GROWTH, patch.shown / 4)) return { patch, hasBegun, delta, changes: undefined };
  const changes = changesSoFar(patch, cwd);
  const shown = { ...patch, shown: patch.lines.length };
  return { patch: shown, hasBegun, delta, changes: changes.length === 0 ? undefined : changes };
}

/** Cut only where it is too long: cutting copies a text that grows by small pieces each time. */
function joined(before: string, lines: string): string {
  if (before.length >= MAX_LINES) return before;
  return (before + lines).length > MAX_LINES ? (before + lines).slice(0, MAX_LINES) : before + lines;
}

function nextLines(patch: StreamedPatch, field: string, text: string, sign: string): string {
  const isNew = field !== patch.field;
  const lines = signed(text, sign, isNew || patch.isLineStart);
  return patch.field !== "" && isNew && !patch.isLineStart ? `\n${lines}` : lines;
}

/** Text with a sign at the start of each line. */
function signed(text: string, sign: string, isLineStart: boolean): string {
  const body = text.replace(/\n(?!$)/g, `\n${sign}`);
  return isLineStart && text !== "" ? sign + body : body;
}

/** The changes that the complete lines make. */
function changesSoFar({ fields, path, lines }: StreamedPatch, cwd: string): readonly FileUpdateChange[] {
  const complete = lines.slice(0, lines.lastIndexOf("\n") + 1);
  if (complete === "") return [];
  if (fields.path === undefined) return filesOf(complete);
  if (path === "") return [];
  const name = displayPath(path, cwd);
  const from = fields.kind === "add" ? "/dev/null" : `a/${name}`;
  const hunk = counted("@@ -1 +1 @@", complete.split("\n").slice(0, -1));
  return [{ path: name, kind: fields.kind, diff: `--- ${from}\n+++ b/${name}\n${hunk}` }];
}

/** The files of the beginning of a unified diff. The last hunk counts the lines that it has so far. */
function filesOf(diff: string): readonly FileUpdateChange[] {
  return diff.split(/^(?=--- .*\n\+\+\+ .*\n)/m).flatMap((part): FileUpdateChange[] => {
    const [, from = "", to = "", body = ""] = /^--- (.*)\n\+\+\+ (.*)\n([\s\S]*)$/.exec(part) ?? [];
    const hunks = body.split(/^(?=@@ )/m).filter((hunk) => hunk.startsWith("@@ "));
    if (hunks.length === 0) return [];
    const kind = from === "/dev/null" ? "add" : to === "/dev/null" ? "delete" : "modify";
    const path = (kind === "delete" ? from : to).replace(/^[ab]\//, "");
    const [last = "", ...before] = hunks.toReversed();
    const [header = "", ...lines] = last.split("\n").slice(0, -1);
    const text = [...before.toReversed(), counted(header, lines)].join("");
    return [{ path, kind, diff: `--- ${from}\n+++ ${to}\n${text}` }];
  });
}

/** A hunk whose header counts these lines. */
function counted(header: string, lines: readonly string[]): string {
  const [, old = "1", fresh = "1"] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(header) ?? [];
  const count = (other: string) =>
    lines.filter((line) => !line.startsWith(other) && !line.startsWith("\\")).length;
  const [removed, added] = [count("+"), count("-")];
  const start = (line: string, size: number) => `${size === 0 ? 0 : line},${size}`;
  return [`@@ -${start(old, removed)} +${start(fresh, added)} @@`, ...lines, ""].join("\n");
}
