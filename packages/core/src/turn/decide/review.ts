import type { ReviewTarget } from "@flint/protocol";

/** What a review is called in one line. */
export function reviewTitle(target: ReviewTarget): string {
  switch (target.type) {
    case "uncommittedChanges":
      return "the uncommitted changes";
    case "baseBranch":
      return `the changes against ${target.branch}`;
    case "commit":
      return target.title === undefined ? `commit ${target.sha}` : `commit ${target.sha} (${target.title})`;
    case "custom":
      return target.instructions;
  }
}

/** What an agent is asked to do for a review. */
export function reviewPrompt(target: ReviewTarget): string {
  const task = target.type === "custom" ? target.instructions : `Review ${reviewTitle(target)}.`;
  return [
    task,
    "Read the changes and the code around them. Change nothing.",
    "Report each problem with its file and line, how bad it is, and what would mend it; the worst first.",
    "If nothing is wrong, say so in one sentence.",
  ].join("\n");
}
