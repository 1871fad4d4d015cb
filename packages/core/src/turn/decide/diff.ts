import { type FileUpdateChange, type Item, isKnownItem, type Turn } from "@flint/protocol";

/**
 * All file changes of a turn as one unified diff: file by file in the order of their first change, and change by change
 * within a file, so that applying it from top to bottom gives the result of the turn.
 */
export function aggregateDiff(turn: Turn): string {
  const byPath = new Map<string, string[]>();
  for (const change of turn.items
    .filter(isKnownItem)
    .filter(isAppliedChange)
    .flatMap((item) => item.changes)) {
    const known = byPath.get(change.path);
    if (known === undefined) byPath.set(change.path, [diffText(change)]);
    else known.push(diffText(change));
  }
  return [...byPath.values()].flat().join("");
}

function isAppliedChange(item: { type: string; status?: string }): item is Item<"fileChange"> {
  return item.type === "fileChange" && item.status === "completed";
}

function diffText(change: FileUpdateChange): string {
  // Only at the very start: further down, "--- " may be a removed line that began with two dashes.
  const headed = /^(diff |Index: |--- )/.test(change.diff) ? change.diff : `${header(change)}${change.diff}`;
  return headed.endsWith("\n") ? headed : `${headed}\n`;
}

function header(change: FileUpdateChange): string {
  const before = change.kind === "add" ? "/dev/null" : join("a", change.path);
  const after = change.kind === "delete" ? "/dev/null" : join("b", change.movePath ?? change.path);
  return `--- ${before}\n+++ ${after}\n`;
}

function join(side: string, path: string): string {
  return path.startsWith("/") ? `${side}${path}` : `${side}/${path}`;
}
