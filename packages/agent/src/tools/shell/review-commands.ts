import { singleQuote } from "@flint/core/text";
import type { ReviewTarget } from "@flint/protocol";

/** Disables the hooks that a repository can configure for these purposes; its clean and smudge filters still run. */
const GIT = "git -c core.fsmonitor=false --no-pager";
const PLAIN = "--no-ext-diff --no-textconv";

const UNCOMMITTED: ReviewTarget = { type: "uncommittedChanges" };

/** The commands that show the changes of a review; the last one prints the diff, one before it the untracked files. */
export function reviewCommands(target: ReviewTarget = UNCOMMITTED): readonly string[] {
  switch (target.type) {
    case "uncommittedChanges":
    case "custom":
      // In this order: outside of a repository the first one prints one line, the second a page of usage.
      return [`${GIT} ls-files --others --exclude-standard`, `${GIT} diff ${PLAIN} HEAD`];
    case "baseBranch":
      return [`${GIT} diff ${PLAIN} --end-of-options ${singleQuote(`${target.branch}...HEAD`)}`];
    case "commit":
      return [`${GIT} show ${PLAIN} --format= --end-of-options ${singleQuote(target.sha)}`];
  }
}

/**
 * Reports whether a command is exactly one that shows uncommitted changes or the changes under review. It is
 * meant to read, but that is not guaranteed: git runs what the repository's configuration names to filter
 * files, to fetch missing objects, and after it wrote its index. A caller that runs it without approval must
 * confine it to reading.
 */
export function isReviewCommand(command: string, target: ReviewTarget | undefined): boolean {
  return [...reviewCommands(), ...reviewCommands(target)].includes(command);
}
