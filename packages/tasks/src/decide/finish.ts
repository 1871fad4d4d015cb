import { currentRound, mergeModeOf, type TaskState } from "@flint/protocol";
import { asking, type DecisionContext, type Events, event } from "./decision.ts";

/**
 * Returns the events that follow when nothing speaks against the result: the user's approval, the merge, or
 * the end. Only the user approves a merge of files that tools run or obey.
 */
export function finish(state: TaskState): Events {
  const { spec } = state;
  const { commit = null, tree = null, protectedPaths } = state.rounds.at(-1) ?? {};
  const isMerged = mergeModeOf(state) !== "none";
  if (spec.approvedBy === "user" || (isMerged && protectedPaths !== undefined))
    return [
      event("task/reviewed", { commit, tree, ...(protectedPaths === undefined ? {} : { protectedPaths }) }),
    ];
  if (!isMerged) return [event("task/ended", { status: "done" })];
  return [event("task/approved", { by: "reviewer", tree })];
}

/** Findings go back to the executor, or to the user once the rounds are used up. */
export function reject(state: TaskState, findings: TaskState["findings"], context: DecisionContext): Events {
  const rejected = event("round/rejected", { findings: [...findings] });
  const done = currentRound(state)?.round ?? 0;
  const allowed = state.spec.rounds + state.extraRounds;
  if (done < allowed) return [rejected];
  const open = findings.filter(
    ({ blocking, state: at }) => blocking && at !== "resolved" && at !== "withdrawn",
  ).length;
  const what = open === 1 ? "1 finding is" : `${open} findings are`;
  return [rejected, asking(context, "rounds", `${what} open after ${done} of ${allowed} rounds.`)];
}

/** The task ends without a result. */
export function fail(error: string): Events {
  return [event("task/ended", { status: "failed", error })];
}
