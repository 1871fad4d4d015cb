import type { ReviewTarget } from "@flint/protocol";
import type { ToolResult } from "../model.ts";
import { count, notDone } from "./reports.ts";
import { quotedWord } from "./shell-word.ts";

/** A repository can make git run programs of its choice; these switches keep it from that. */
const GIT = "git -c core.fsmonitor=false --no-pager";
const PLAIN = "--no-ext-diff --no-textconv";

/** The commands that show what a review is about. */
export function reviewCommands(target: ReviewTarget): readonly string[] {
  switch (target.type) {
    case "uncommittedChanges":
    case "custom":
      return [`${GIT} diff ${PLAIN} HEAD`, `${GIT} ls-files --others --exclude-standard`];
    case "baseBranch":
      return [`${GIT} diff ${PLAIN} --end-of-options ${quotedWord(`${target.branch}...HEAD`)}`];
    case "commit":
      return [`${GIT} show ${PLAIN} --format= --end-of-options ${quotedWord(target.sha)}`];
  }
}

/** What changed in one file. */
interface FileChange {
  readonly path: string;
  readonly added: readonly { readonly line: number; readonly text: string }[];
  readonly removed: number;
}

/** What the changes touch and what plainly should not be in them, from the output of the commands above. */
export function describeChanges(results: readonly ToolResult[]): string {
  const [diff, untracked] = results;
  const failed = results.find(({ status }) => status !== "done");
  if (diff === undefined || failed !== undefined) {
    return notDone("see the changes", failed ?? { status: "failed", text: "" });
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

/** Reads a unified diff as git prints it. */
function parseDiff(text: string): FileChange[] {
  return text
    .split(/^(?=diff --git )/m)
    .filter((part) => part.startsWith("diff --git "))
    .map(parseFile);
}

function parseFile(part: string): FileChange {
  const [before = "", ...hunks] = part.split(/^(?=@@ )/m);
  const added = hunks.flatMap(addedLines);
  const removed = hunks.join("").match(/^-/gm)?.length ?? 0;
  return { path: pathOf(before), added, removed };
}

function pathOf(header: string): string {
  const named = /^\+\+\+ b\/(.*)$/m.exec(header) ?? /^--- a\/(.*)$/m.exec(header);
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
