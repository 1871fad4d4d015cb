import { singleQuote } from "@flint/core/text";
import type { ReviewTarget } from "@flint/protocol";

/** Programs that a repository names for these purposes are not run; those that clean up files for git still are. */
const GIT = "git -c core.fsmonitor=false --no-pager";
const PLAIN = "--no-ext-diff --no-textconv";

const UNCOMMITTED: ReviewTarget = { type: "uncommittedChanges" };

/** The commands that show what a review is about; the last one shows the differences, one before it the new files. */
export function reviewCommands(target: ReviewTarget = UNCOMMITTED): readonly string[] {
  switch (target.type) {
    case "uncommittedChanges":
    case "custom":
      // In this order: outside of a repository the first one says so in a line, the second in a page of usage.
      return [`${GIT} ls-files --others --exclude-standard`, `${GIT} diff ${PLAIN} HEAD`];
    case "baseBranch":
      return [`${GIT} diff ${PLAIN} --end-of-options ${singleQuote(`${target.branch}...HEAD`)}`];
    case "commit":
      return [`${GIT} show ${PLAIN} --format= --end-of-options ${singleQuote(target.sha)}`];
  }
}

/**
 * Whether a command is, sign for sign, one that shows uncommitted changes or what the user wants reviewed. It is meant to
 * read, but its words do not make it so: git runs what the repository's own configuration names to filter files, to
 * fetch objects that are missing, and after it wrote its index. Whoever runs it unasked has to confine it to reading.
 */
export function isReviewCommand(command: string, target: ReviewTarget | undefined): boolean {
  return [...reviewCommands(), ...reviewCommands(target)].includes(command);
}
