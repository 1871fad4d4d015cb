import type { ToolResult } from "@flint/agent/model";
import { count, failure } from "./replies.ts";

const REMARK = "I follow fixed rules, so I cannot judge whether the changes are right.";

/** Whether a text is a unified diff. */
export function isDiff(text: string): boolean {
  return filesIn(text).length > 0;
}

/** Describes a diff file by file. */
export function describeDiff(text: string): string {
  const files = filesIn(text);
  return [`This is a diff of ${count(files.length, "file")}:`, ...files, "", REMARK].join("\n");
}

/** Describes what the changes of a review touch, from the output of its commands. */
export function describeReview(results: readonly ToolResult[]): string {
  const [diff, untracked] = results.toReversed();
  const failed = results.find(({ status }) => status !== "done");
  if (diff === undefined || failed !== undefined) return noReview(failed ?? { status: "failed", text: "" });
  const fresh = (untracked?.text ?? "").split("\n").filter(Boolean);
  const files = [...filesIn(diff.text), ...fresh.map((path) => `- ${path} (new, not yet known to git)`)];
  if (files.length === 0) return "There are no changes to review.";
  return [`The changes touch ${count(files.length, "file")}:`, ...files, "", REMARK].join("\n");
}

/** Instead of the page of usage that git prints, says what it lacks. */
function noReview(failed: ToolResult): string {
  if (/not a git repository/i.test(failed.text))
    return 'This folder is not in a git repository, so I cannot see what changed. Create one with `git init`, or give me a diff: diff -u OLD NEW | flint exec "review this".';
  if (/(?:ambiguous argument|bad revision) 'HEAD'/i.test(failed.text))
    return "This git repository has no commit yet, so there is nothing to compare the files with.";
  return failure("see the changes", failed);
}

/** A line for each file of a unified diff as git or diff print it; anything else has no files. */
function filesIn(text: string): string[] {
  const isGit = /^diff --git /m.test(text);
  const parts = isGit ? text.split(/^(?=diff --git )/m) : text.split(/^(?=--- \S.*\n\+\+\+ \S)/m);
  return parts
    .filter((part) => part.startsWith("diff --git ") || /^--- .*\n\+\+\+ .*\n@@ /.test(part))
    .map((part) => {
      const [header = "", ...hunks] = part.split(/^(?=@@ )/m);
      const lines = (mark: RegExp) => hunks.join("").match(mark)?.length ?? 0;
      return `- ${pathIn(header)} (+${lines(/^\+/gm)} -${lines(/^-/gm)})`;
    });
}

function pathIn(header: string): string {
  const named =
    /^\+\+\+ (?!\/dev\/null)(?:b\/)?([^\t\n]*)/m.exec(header) ??
    /^--- (?!\/dev\/null)(?:a\/)?([^\t\n]*)/m.exec(header) ??
    /^diff --git a\/(.*) b\/.*$/m.exec(header);
  return named?.[1] ?? "a file";
}
