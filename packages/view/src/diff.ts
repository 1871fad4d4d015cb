import type { FileUpdateChange } from "@flint/protocol";
import type { Block, DiffLine } from "./row.ts";

const HUNK = /^@@ /;

/** Parses the unified diff of a changed file. */
export function diffBlock({
  kind: change,
  path,
  movePath,
  diff,
}: FileUpdateChange): Extract<Block, { kind: "diff" }> {
  const lines = bodyOf(diff).map((text): DiffLine => ({ kind: kindOf(text), text }));
  const count = (kind: DiffLine["kind"]) => lines.filter((line) => line.kind === kind).length;
  return { kind: "diff", change, path, movePath, lines, added: count("added"), removed: count("removed") };
}

/** The lines after the file header. A diff without hunks is all body. */
function bodyOf(diff: string): string[] {
  const lines = diff.replace(/\n$/, "").split("\n");
  const first = lines.findIndex((line) => HUNK.test(line));
  const body = first === -1 ? lines : lines.slice(first);
  return body.length === 1 && body[0] === "" ? [] : body;
}

function kindOf(line: string): DiffLine["kind"] {
  if (HUNK.test(line)) return "hunk";
  if (line.startsWith("+")) return "added";
  if (line.startsWith("-")) return "removed";
  return line.startsWith("\\") ? "note" : "context";
}
