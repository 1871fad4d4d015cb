import type { FileUpdateChange } from "@flint/protocol";
import type { CodexFileChange } from "@flint/protocol/codex";
import { shownPath } from "../../shared/shown-path.ts";

const NO_NEWLINE = "\\ No newline at end of file";

/** A file change with a complete unified diff, and paths relative to the workspace. */
export function fileChange(change: CodexFileChange, cwd: string): FileUpdateChange {
  const path = shownPath(change.path, cwd);
  switch (change.kind.type) {
    case "add":
      return { path, kind: "add", diff: wholeFile(change.diff, "/dev/null", `b/${path}`, "+") };
    case "delete":
      return { path, kind: "delete", diff: wholeFile(change.diff, `a/${path}`, "/dev/null", "-") };
    default:
      return modified(change, path, cwd);
  }
}

function modified({ diff, kind }: CodexFileChange, path: string, cwd: string): FileUpdateChange {
  const { move_path: moved } = kind;
  const movePath = typeof moved === "string" ? shownPath(moved, cwd) : undefined;
  const renamed =
    movePath === undefined
      ? ""
      : `diff --git a/${path} b/${movePath}\nrename from ${path}\nrename to ${movePath}\n`;
  const hunks = hunksOf(diff);
  const head = hunks === "" ? "" : `--- a/${path}\n+++ b/${movePath ?? path}\n`;
  const whole = { path, kind: "modify", diff: `${renamed}${head}${hunks}` } as const;
  return movePath === undefined ? whole : { ...whole, movePath };
}

/** Older versions write a header before the hunks and a note about the new name after them. */
function hunksOf(diff: string): string {
  const start = diff.startsWith("@@") ? 0 : diff.indexOf("\n@@") + 1;
  if (start === 0 && !diff.startsWith("@@")) return "";
  return diff.slice(start).replace(/\n+Moved to: [^\n]*\n?$/, "\n");
}

/** The diff of a file that is added or deleted as a whole. */
function wholeFile(text: string, from: string, to: string, sign: "+" | "-"): string {
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  if (lines.length === 0) return `--- ${from}\n+++ ${to}\n`;
  const range = `1,${lines.length}`;
  const ranges = sign === "+" ? `-0,0 +${range}` : `-${range} +0,0`;
  const end = text.endsWith("\n") ? "" : `${NO_NEWLINE}\n`;
  return `--- ${from}\n+++ ${to}\n@@ ${ranges} @@\n${lines.map((line) => `${sign}${line}\n`).join("")}${end}`;
}
