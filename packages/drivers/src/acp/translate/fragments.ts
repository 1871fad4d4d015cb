import { resolve } from "node:path";
import { type FileRevision, plainTextSync, type UnifiedDiff } from "@flint/host/files";

/** Larger files are shown as the agent tells them. */
const LARGEST = 2_000_000;

/**
 * The diff of whole files, for an agent that tells only the lines which it changes. The rest is read from the file,
 * which may be as it was or changed already. What cannot be found there exactly once is left as it was told.
 */
export function ofWholeFiles(diff: UnifiedDiff, cwd: string): UnifiedDiff {
  return (change) => diff(wholeChange(change, plainTextSync(resolve(cwd, change.path), LARGEST)));
}

function wholeChange(change: FileRevision, text: string | undefined): FileRevision {
  const { path, before, after } = change;
  if (text === undefined || before === undefined || after === undefined) return change;
  if (text === before || text === after) return change;
  if (isOnceIn(text, before)) return { path, before: text, after: text.replace(before, () => after) };
  if (isOnceIn(text, after)) return { path, before: text.replace(after, () => before), after: text };
  return change;
}

function isOnceIn(text: string, part: string): boolean {
  const at = text.indexOf(part);
  return part !== "" && at >= 0 && text.indexOf(part, at + 1) < 0;
}
