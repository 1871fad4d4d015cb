import { resolve } from "node:path";
import { type FileRevision, plainTextSync, type UnifiedDiff } from "@flint/host/files";

/** Larger files are shown as the agent sends them. */
const MAX_BYTES = 2_000_000;

/**
 * Completes the diffs of an agent that sends only the lines which it changes. The rest is read from the file, before or
 * after the change. Lines that are not in the file exactly once stay as the agent sent them.
 */
export function completingDiffs(diff: UnifiedDiff, cwd: string): UnifiedDiff {
  return (change) => diff(wholeChange(change, plainTextSync(resolve(cwd, change.path), MAX_BYTES)));
}

function wholeChange(change: FileRevision, text: string | undefined): FileRevision {
  const { path, before, after } = change;
  if (text === undefined || before === undefined || after === undefined) return change;
  if (text === before || text === after) return change;
  if (occursOnce(text, before)) return { path, before: text, after: text.replace(before, () => after) };
  if (occursOnce(text, after)) return { path, before: text.replace(after, () => before), after: text };
  return change;
}

function occursOnce(text: string, part: string): boolean {
  const at = text.indexOf(part);
  return part !== "" && at >= 0 && text.indexOf(part, at + 1) < 0;
}
