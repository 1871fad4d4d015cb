import type { ToolKind } from "@agentclientprotocol/sdk";
import { type FileUpdateChange, shortened } from "@flint/protocol";
import { hunksOf } from "./patch-hunks.ts";

/** A file that a tool call works on, with the line if it is known, counted from one. */
export interface Location {
  readonly path: string;
  readonly line?: number;
}

/** Maximum number of characters of a command or query in the title. */
const LONGEST_TITLE = 200;

/** The title of a call that changes files. */
export function changesTitle(changes: readonly FileUpdateChange[]): string {
  const [first] = changes;
  if (first === undefined) return "Change files";
  if (changes.length > 1) return `Change ${changes.length} files`;
  if (first.movePath !== undefined) return `Move ${first.path} to ${first.movePath}`;
  const verbs = { add: "Write", modify: "Edit", delete: "Delete" } as const;
  return `${verbs[first.kind]} ${first.path}`;
}

/** The kind of a call that changes files. */
export function changesKind(changes: readonly FileUpdateChange[]): ToolKind {
  if (changes.length > 0 && changes.every(({ kind }) => kind === "delete")) return "delete";
  return changes.length > 0 && changes.every(({ movePath }) => movePath !== undefined) ? "move" : "edit";
}

/** The file of a change as it is called afterwards, with the line of the first change in it. */
export function locationsOf({ path, movePath, diff }: FileUpdateChange): Location[] {
  const [first] = hunksOf(diff);
  const newPath = movePath ?? path;
  return [first === undefined ? { path: newPath } : { path: newPath, line: first.line }];
}

/** The file in the arguments of a tool, under the names that tools use for it. */
export function locationsIn(input: unknown): Location[] {
  if (typeof input !== "object" || input === null) return [];
  const given = new Map<string, unknown>(Object.entries(input));
  const path = ["path", "file_path", "filePath", "notebook_path"]
    .map((name) => given.get(name))
    .find((value) => typeof value === "string" && value !== "");
  if (typeof path !== "string") return [];
  const line = ["line", "offset", "start_line", "startLine"]
    .map((name) => given.get(name))
    .find((value) => typeof value === "number" && Number.isInteger(value) && value > 0);
  return [typeof line === "number" ? { path, line } : { path }];
}

/** The first line of a text, as a title. */
export function titled(text: string): string {
  const [line = "", ...more] = text.trim().split("\n");
  return shortened(more.length === 0 ? line : `${line}…`, LONGEST_TITLE);
}
