import type { ToolResult } from "@flint/agent/model";
import { count, listed, notDone } from "./reports.ts";

/** What changed in one file. */
export interface FileChange {
  readonly path: string;
  readonly kind: "new" | "deleted" | "renamed" | "changed";
  readonly added: readonly { readonly line: number; readonly text: string }[];
  readonly removed: number;
  readonly places: readonly string[];
}

/** What the changes touch and what plainly should not be in them, from the output of the commands of a review. */
export function describeChanges(results: readonly ToolResult[]): string {
  const [diff, untracked] = results.toReversed();
  const failed = results.find(({ status }) => status !== "done");
  if (diff === undefined || failed !== undefined) {
    return notSeen(failed ?? { status: "failed", text: "" });
  }
  const files = parseDiff(diff.text);
  const fresh = (untracked?.text ?? "").split("\n").filter(Boolean);
  if (files.length + fresh.length === 0) return "There are no changes to review.";
  const problems = files.flatMap(problemsIn);
  return [
    `The changes touch ${count(files.length + fresh.length, "file")}:`,
    ...files.map(({ path, added, removed }) => `- ${path} (+${added.length} -${removed})`),
    ...fresh.map((path) => `- ${path} (new, not yet known to git)`),
    "",
    ...(problems.length === 0 ? ["I see no leftover of a merge and no new open end."] : problems),
    "I only follow rules, so I cannot judge whether the changes are right.",
  ].join("\n");
}

/** What git cannot do without is told in plain words; it prints a page of its own usage instead. */
function notSeen(failed: ToolResult): string {
  if (/not a git repository/i.test(failed.text))
    return 'This folder is not in a git repository, so I cannot see what changed. Make one with `git init`, or give me a diff: diff -u OLD NEW | flint exec "review this".';
  if (/(?:ambiguous argument|bad revision) 'HEAD'/i.test(failed.text))
    return "This git repository has no commit yet, so there is nothing to compare the files with.";
  return notDone("see the changes", failed);
}

/** What a diff does, file by file. */
export function describeDiff(text: string): string {
  const files = parseDiff(text);
  const added = files.reduce((sum, file) => sum + file.added.length, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  const problems = files.flatMap(problemsIn);
  return [
    `This is a diff of ${count(files.length, "file")} (+${added} -${removed}):`,
    ...files.map(describeFileChange),
    ...(problems.length === 0 ? [] : ["", "Worth a look:", ...problems]),
    "",
    "I only follow rules, so I cannot judge whether the changes are right.",
  ].join("\n");
}

function describeFileChange({ path, kind, added, removed, places }: FileChange): string {
  const first = added.find(({ text }) => /\w/.test(text))?.text.trim();
  const where = places.length === 0 ? "" : `, in ${listed(places.map((place) => `\`${place}\``))}`;
  const what =
    first === undefined ? "" : `; adds \`${first.slice(0, 80)}\`${added.length > 1 ? " and more" : ""}`;
  return `- ${path} (${kind}, +${added.length} -${removed})${where}${what}`;
}

/** Reads a unified diff as git or diff print it. What is none has no files. */
export function parseDiff(text: string): FileChange[] {
  const isGit = /^diff --git /m.test(text);
  const parts = isGit ? text.split(/^(?=diff --git )/m) : text.split(/^(?=--- \S.*\n\+\+\+ \S)/m);
  return parts
    .filter((part) => part.startsWith("diff --git ") || /^--- .*\n\+\+\+ .*\n@@ /.test(part))
    .map(parseFile);
}

function kindOf(header: string): FileChange["kind"] {
  if (/^(?:new file mode|--- \/dev\/null)/m.test(header)) return "new";
  if (/^(?:deleted file mode|\+\+\+ \/dev\/null)/m.test(header)) return "deleted";
  return /^rename to /m.test(header) ? "renamed" : "changed";
}

/** Git names the function or section that a hunk lies in. */
function placesIn(hunks: readonly string[]): string[] {
  const names = hunks.flatMap((hunk) => /^@@ [^@]*@@ (.+)/.exec(hunk)?.[1]?.trim().slice(0, 60) ?? []);
  return [...new Set(names)];
}

function parseFile(part: string): FileChange {
  const [before = "", ...hunks] = part.split(/^(?=@@ )/m);
  const added = hunks.flatMap(addedLines);
  const removed = hunks.join("").match(/^-/gm)?.length ?? 0;
  return { path: pathOf(before), kind: kindOf(before), added, removed, places: placesIn(hunks) };
}

function pathOf(header: string): string {
  const named =
    /^\+\+\+ (?!\/dev\/null)(?:b\/)?([^\t\n]*)/m.exec(header) ??
    /^--- (?!\/dev\/null)(?:a\/)?([^\t\n]*)/m.exec(header);
  return named?.[1] ?? /^diff --git a\/(.*) b\/.*$/m.exec(header)?.[1] ?? "a file";
}

function addedLines(hunk: string): { line: number; text: string }[] {
  const [first = "", ...rest] = hunk.split("\n");
  let line = Number(/\+(\d+)/.exec(first)?.[1] ?? 1);
  const added: { line: number; text: string }[] = [];
  for (const text of rest) {
    if (text.startsWith("+")) added.push({ line, text: text.slice(1) });
    if (text.startsWith("+") || text.startsWith(" ")) line += 1;
  }
  return added;
}

function problemsIn({ path, added }: FileChange): string[] {
  return added.flatMap(({ line, text }) => {
    if (/^(<{7}|>{7}) /.test(text)) return [`- ${path}:${line} holds a leftover of a merge conflict.`];
    if (/\b(TODO|FIXME|XXX)\b/.test(text))
      return [`- ${path}:${line} leaves something open: ${text.trim().slice(0, 100)}`];
    return [];
  });
}
