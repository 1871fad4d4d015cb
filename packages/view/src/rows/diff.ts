import type { FileUpdateChange } from "@flint/protocol";
import type { DiffBlock, DiffLine } from "../row.ts";

/** Stands for the content of a file that is added or deleted without any. */
const EMPTY = "\\ The file is empty";
const HUNK = /^@@ -(?<old>\d+)(?:,\d+)? \+(?<new>\d+)/;

/** Parses the unified diff of a changed file. */
export function diffBlock({ kind: change, path, movePath, diff }: FileUpdateChange): DiffBlock {
  const lines = numbered(bodyOf(diff));
  const count = (kind: DiffLine["kind"]) => lines.filter((line) => line.kind === kind).length;
  return { kind: "diff", change, path, movePath, lines, added: count("added"), removed: count("removed") };
}

/** Parses a diff of several files, as git prints it. */
export function diffBlocks(diff: string): DiffBlock[] {
  return diff
    .split(/^(?=diff --git )/m)
    .filter((part) => part.startsWith("diff --git "))
    .map((part) => {
      const [, from = "", to = ""] = /^diff --git "?a\/(.*?)"? "?b\/(.*?)"?$/m.exec(part) ?? [];
      const kind = /^new file/m.test(part) ? "add" : /^deleted file/m.test(part) ? "delete" : "modify";
      return diffBlock({ path: from, kind, diff: part, ...(from === to ? {} : { movePath: to }) });
    });
}

/** The lines after the file header. A diff without hunks is all body, but for names alone: of a moved or an empty file. */
function bodyOf(diff: string): string[] {
  const lines = diff.replace(/\n$/, "").split("\n");
  const first = lines.findIndex((line) => line.startsWith("@@ "));
  const isHeader = lines.length === 2 && lines[0]?.startsWith("--- ") && lines[1]?.startsWith("+++ ");
  if (isHeader === true) return /^(?:---|\+\+\+) \/dev\/null$/m.test(diff) ? [EMPTY] : [];
  const body = first === -1 ? lines : lines.slice(first);
  return body.length === 1 && body[0] === "" ? [] : body;
}

/** Lines before the first hunk have no numbers. */
function numbered(lines: readonly string[]): DiffLine[] {
  let at: { old: number; new: number } | undefined;
  return lines.map((text): DiffLine => {
    const kind = kindOf(text);
    if (kind === "hunk") {
      const { old, new: fresh } = HUNK.exec(text)?.groups ?? {};
      at = old === undefined ? undefined : { old: Number(old), new: Number(fresh) };
    }
    if (at === undefined || kind === "hunk" || kind === "note") return { kind, text };
    const oldLine = kind === "added" ? undefined : at.old++;
    const newLine = kind === "removed" ? undefined : at.new++;
    return { kind, text, oldLine, newLine };
  });
}

function kindOf(line: string): DiffLine["kind"] {
  if (line.startsWith("@@ ")) return "hunk";
  if (line.startsWith("+")) return "added";
  if (line.startsWith("-")) return "removed";
  return line.startsWith("\\") ? "note" : "context";
}

/** Two lines of a diff side by side. A hunk or a note is on both sides; what was added or removed may be alone. */
export interface DiffPair {
  readonly left?: DiffLine | undefined;
  readonly right?: DiffLine | undefined;
}

/** A diff in two columns: what was removed stands beside what was added in its place. */
export function diffPairs({ lines }: Pick<DiffBlock, "lines">): DiffPair[] {
  const pairs: DiffPair[] = [];
  const removed: DiffLine[] = [];
  const added: DiffLine[] = [];
  const flush = () => {
    const count = Math.max(removed.length, added.length);
    for (let at = 0; at < count; at += 1) pairs.push({ left: removed[at], right: added[at] });
    removed.length = 0;
    added.length = 0;
  };
  for (const line of lines) {
    // A line that is removed after others were added begins a new group.
    if (line.kind === "removed" && added.length > 0) flush();
    if (line.kind === "removed") removed.push(line);
    else if (line.kind === "added") added.push(line);
    else {
      flush();
      pairs.push({ left: line, right: line });
    }
  }
  flush();
  return pairs;
}
