import { linesOf } from "@flint/host/files";

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const NO_NEWLINE = "\\ No newline at end of file";

/** One hunk: where it begins in the old text, and its lines with their signs. */
interface Hunk {
  readonly start: number;
  readonly oldLines: readonly string[];
  readonly newLines: readonly string[];
}

/**
 * The text that a unified diff makes of another. Takes nothing on trust: throws unless every line that the diff says
 * was there is there, in the very place.
 */
export function appliedDiff(before: string, diff: string): string {
  const old = linesOf(before);
  const made: string[] = [];
  let at = 0;
  for (const { start, oldLines, newLines } of hunksOf(diff)) {
    if (start < at || start > old.length)
      throw new Error(`The diff has a hunk at line ${start + 1}:\n${diff}`);
    made.push(...old.slice(at, start), ...newLines);
    const found = old.slice(start, start + oldLines.length);
    if (found.join("") !== oldLines.join("")) {
      throw new Error(`The diff changes what was not there at line ${start + 1}:\n${diff}`);
    }
    at = start + oldLines.length;
  }
  return [...made, ...old.slice(at)].join("");
}

function hunksOf(diff: string): Hunk[] {
  const lines = diff.replace(/\n$/, "").split("\n");
  const first = lines.findIndex((line) => HUNK.test(line));
  if (first === -1) throw new Error(`There is no hunk in the diff:\n${diff}`);
  const hunks: Hunk[] = [];
  for (let at = first; at < lines.length; ) {
    const end = lines.findIndex((line, index) => index > at && HUNK.test(line));
    const next = end === -1 ? lines.length : end;
    hunks.push(hunkOf(lines.slice(at, next)));
    at = next;
  }
  return hunks;
}

function hunkOf([header = "", ...body]: readonly string[]): Hunk {
  const [, oldStart, oldCount = "1", , newCount = "1"] = HUNK.exec(header) ?? [];
  const oldLines: string[] = [];
  const newLines: string[] = [];
  for (const [index, line] of body.entries()) {
    if (line === NO_NEWLINE) continue;
    const text = `${line.slice(1)}${body[index + 1] === NO_NEWLINE ? "" : "\n"}`;
    const sign = line[0] ?? " ";
    if (!" -+".includes(sign)) throw new Error(`No line of a diff begins like ${JSON.stringify(line)}`);
    if (sign !== "+") oldLines.push(text);
    if (sign !== "-") newLines.push(text);
  }
  if (oldLines.length !== Number(oldCount) || newLines.length !== Number(newCount)) {
    throw new Error(`The hunk ${header} has ${oldLines.length} old and ${newLines.length} new lines`);
  }
  // An empty range names the line before it.
  const start = oldLines.length === 0 ? Number(oldStart) : Number(oldStart) - 1;
  return { start, oldLines, newLines };
}
