import { exact } from "@flint/view";
import { type Line, lineOf, type Style } from "./line.ts";

/** How many lines a diff adds and removes. */
export interface DiffSize {
  readonly added: number;
  readonly removed: number;
}

const HUNK = /^@@ /;

/** Counts the lines that a unified diff adds and removes. */
export function diffSize(diff: string): DiffSize {
  const lines = bodyOf(diff);
  return {
    added: lines.filter((line) => line.startsWith("+")).length,
    removed: lines.filter((line) => line.startsWith("-")).length,
  };
}

/** A unified diff in colours, without the names of the files, which stand above it. */
export function diffLines(diff: string): Line[] {
  return bodyOf(diff).map((line) => lineOf(exactDiffLine(line), styleOf(line)));
}

/** What comes before the first hunk names the files. A diff without hunks is all body. */
function bodyOf(diff: string): string[] {
  const lines = diff.replace(/\n$/, "").split("\n");
  const first = lines.findIndex((line) => HUNK.test(line));
  const body = first === -1 ? lines : lines.slice(first);
  return body.length === 1 && body[0] === "" ? [] : body;
}

/** Tabs are usual in files and stay what they are; everything else that hides is shown. */
function exactDiffLine(line: string): string {
  return line.split("\t").map(exact).join("\t");
}

function styleOf(line: string): Style | undefined {
  if (HUNK.test(line)) return "cyan";
  if (line.startsWith("+")) return "green";
  if (line.startsWith("-")) return "red";
  return line.startsWith("\\") ? "dim" : undefined;
}
