import { isEnded, reduceTask, reviewModeOf, type TaskEvent, type TaskState } from "@flint/protocol";
import { isBlocking } from "../decide/findings.ts";

/** Returns the missing part of a result's review, if no user has accepted the result. */
function missingReview({ spec, rounds, findings }: TaskState, event: TaskEvent): string | undefined {
  const isByReviewer = event.type === "task/approved" && event.data.by === "reviewer";
  if (event.type !== "task/reviewed" && !isByReviewer) return undefined;
  if (findings.some(isBlocking)) return "a finding is open";
  const judged = rounds.at(-1)?.reviews.filter(({ verdict }) => verdict.verdict !== "cannotJudge") ?? [];
  const reviewers = new Set(judged.map(({ reviewer }) => reviewer));
  const needed = reviewModeOf(spec) === "all" ? spec.reviewers.length : Math.min(1, spec.reviewers.length);
  return reviewers.size < needed ? `${reviewers.size} of ${needed} reviewers judged` : undefined;
}

/** Reports whether the result of a task that is done is merged after all. */
function isMerge(before: TaskState, { type }: TaskEvent): boolean {
  return type === "task/approved" && before.phase === "done" && before.merged === undefined;
}

/**
 * Returns the invariants that a log of a task violates, with leases of this duration if it is known; empty if
 * none.
 */
export function violations(
  id: string,
  events: readonly TaskEvent[],
  final: TaskState,
  leaseMs = 0,
): string[] {
  const found: string[] = [];
  let state: TaskState | undefined;
  let fence = 0;
  let running = false;
  let leasedAt = 0;
  for (const event of events) {
    const before = state;
    state = reduceTask(id, state, event);
    const at = `${event.version} ${event.type}`;
    if (before !== undefined && isEnded(before) && event.type !== "task/retried" && !isMerge(before, event))
      found.push(`${at} after the end`);
    if (event.type === "run/leased") {
      if (running) found.push(`${at}: leased while leased`);
      if (before?.phase !== "ready") found.push(`${at}: leased while ${before?.phase}`);
      if (event.data.fence <= fence) found.push(`${at}: the fence did not rise`);
      fence = event.data.fence;
      leasedAt = event.at;
      running = true;
    } else if (running && state.run === undefined) running = false;
    if (event.type === "run/lost" && event.at < leasedAt + leaseMs)
      found.push(`${at}: the lease was not over`);
    if (state.fence < (before?.fence ?? 0)) found.push(`${at}: the fence fell`);
    if (event.type === "round/started" && event.data.round > state.spec.rounds + state.extraRounds)
      found.push(`${at}: more rounds than allowed`);
    if (event.type === "round/reviewed" && event.data.verdict.verdict !== "cannotJudge") {
      const blocks = event.data.verdict.findings.some(({ severity }) => severity === "blocker");
      if (blocks && !state.findings.some(isBlocking)) found.push(`${at}: a blocker was dropped`);
    }
    const missing = missingReview(state, event);
    if (missing !== undefined) found.push(`${at}: ${missing}`);
    if (event.type === "round/started" && before !== undefined) {
      const allowed = before.spec.budget.seconds * (1 + before.extraBudgets);
      if (before.usage.seconds >= allowed) found.push(`${at}: started over budget`);
    }
    if ((state.phase === "running") !== (state.run !== undefined))
      found.push(`${at}: running without a lease`);
  }
  if (JSON.stringify(state) !== JSON.stringify(final))
    found.push("the log does not replay to the same state");
  return found;
}
