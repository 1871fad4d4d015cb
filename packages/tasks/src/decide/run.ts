import {
  type Contest,
  currentRound,
  reviewModeOf,
  type TaskRun,
  type TaskState,
  withContests,
} from "@flint/protocol";
import {
  asking,
  type DecisionContext,
  type Events,
  event,
  exhaustedBudget,
  interrupted,
} from "./decision.ts";
import {
  approvedByOne,
  blockingFindings,
  findingsAfterChecks,
  findingsAfterVerdict,
  heldFindings,
  settled,
  withComment,
} from "./findings.ts";
import { finish, reject } from "./finish.ts";
import { afterInterruption, backOff, fallback } from "./interruptions.ts";
import type {
  CheckOutcome,
  ExecuteOutcome,
  MergeOutcome,
  PrepareOutcome,
  ReviewOutcome,
} from "./outcomes.ts";

/** Number of lost runs of an attempt after which the user is asked. */
const LOST_MAX = 3;

/** The most protected files that are named. */
const MAX_PROTECTED = 50;

/** A worker takes the task; the fence rises. */
export function leased(run: TaskRun): Events {
  return [event("run/leased", run)];
}

/** A worker did not renew its lease. Its place may be in any state, so the user is asked if it keeps happening. */
export function afterLost(state: TaskState, fence: number, context: DecisionContext): Events {
  if (state.run === undefined) return [];
  const { runId, worker } = state.run;
  const isInTurn = state.step === "execute" && currentRound(state)?.turn?.turnId !== undefined;
  const instructions = interrupted("a crash or a lost connection", context);
  const lost = event("run/lost", { runId, worker, fence, ...(isInTurn ? { instructions } : {}) });
  if (state.lostRuns + 1 <= LOST_MAX) return [lost];
  return [lost, asking(context, "lost", `${state.lostRuns + 1} runs were lost, the last one on ${worker}.`)];
}

/** The attempt has its folder, or cannot have one: work is never done anywhere else. */
export function afterPrepare(state: TaskState, outcome: PrepareOutcome, context: DecisionContext): Events {
  if (outcome.kind === "prepared") {
    const { base, folder, included = [], notices = [] } = outcome;
    const copied = included.length === 0 ? {} : { included: included.slice(0, 200) };
    const logged = notices.map((message) => event("task/logged", { level: "warning", message }));
    return [event("round/prepared", { base, folder, ...copied }), ...logged];
  }
  if (outcome.mayPass) return backOff(state, outcome.message, context);
  return [asking(context, "place", outcome.message)];
}

/** The executor's next turn, under an idempotency key of its own, unless the budget is used up. */
export function startRound(state: TaskState, context: DecisionContext): Events {
  const exhausted = exhaustedBudget(state);
  if (exhausted !== undefined) return [asking(context, "budget", exhausted)];
  const last = currentRound(state);
  const round = last === undefined ? 1 : last.tree === undefined ? last.round : last.round + 1;
  const clientId = turnKey(state, round);
  return [event("round/started", { round, executor: state.executor, clientId })];
}

/** The idempotency key of the executor's turn: one per round, lease and agent. */
export function turnKey({ id, attempt, fence, executor }: TaskState, round: number): string {
  return [id, attempt, round, fence, executor].join(".");
}

/** Returns the events that follow the executor's turn. */
export function afterTurn(state: TaskState, outcome: ExecuteOutcome, context: DecisionContext): Events {
  if (outcome.kind !== "completed") return afterInterruption(state, "executor", outcome, context);
  const { turn, commit, tree, summary, contested, usage, changed, protectedPaths } = outcome;
  const executed = event("round/executed", {
    turn,
    commit,
    tree,
    contested: [...contested],
    usage,
    ...(summary === undefined ? {} : { summary: summary.slice(0, 4000) }),
    ...(protectedPaths === undefined ? {} : { protectedPaths: protectedPaths.slice(0, MAX_PROTECTED) }),
  });
  const objections = new Map(contested.map((objection) => [objection.id, objection.why]));
  const twice = state.findings.find(({ id, contests }) => objections.has(id) && contests >= 1);
  const back = event("round/rejected", { findings: [...state.findings] });
  if (twice !== undefined) {
    const why = objections.get(twice.id) ?? "";
    return [executed, back, asking(context, "contested", `The executor contests ${twice.id} again: ${why}`)];
  }
  if (!changed && contested.length === 0)
    return [
      executed,
      back,
      asking(context, "unchanged", "The executor ended its turn without changing anything."),
    ];
  if (state.spec.checks.length > 0) return [executed];
  return [executed, ...withoutChecks(state, contested)];
}

function withoutChecks(state: TaskState, contested: readonly Contest[]): Events {
  const round = currentRound(state)?.round ?? 1;
  const findings = settled(withContests(state.findings, contested), round);
  return [event("round/checked", { results: [], findings })];
}

/**
 * Returns the events that follow the checks: the review, the next round, or the end if there is no reviewer.
 */
export function afterChecks(state: TaskState, outcome: CheckOutcome, context: DecisionContext): Events {
  if (outcome.kind === "unable")
    return [asking(context, "failure", `The checks could not run: ${outcome.message}`)];
  const round = currentRound(state)?.round ?? 1;
  const findings = settled(findingsAfterChecks(state, round, outcome.results), round);
  const checked = event("round/checked", { results: [...outcome.results], findings });
  const failed = outcome.results.some(({ exitCode }) => exitCode !== 0);
  return failed ? [checked, ...reject(state, findings, context)] : [checked];
}

/**
 * Returns the events that follow a verdict. The findings decide, not the word: a reviewer that rejects
 * without one is asked once more. Of several that have to approve, the next one judges the same round; if one
 * is enough, only until one approves.
 */
export function afterVerdict(state: TaskState, outcome: ReviewOutcome, context: DecisionContext): Events {
  if (outcome.kind !== "judged") return afterInterruption(state, "reviewer", outcome, context);
  const { verdict, usage, turn, onChangedLines } = outcome;
  const round = currentRound(state);
  const judged = (findings: TaskState["findings"], note?: string, next?: number) =>
    event("round/reviewed", {
      reviewer: state.reviewer,
      ...(next === undefined ? {} : { next }),
      verdict,
      findings: [...findings],
      usage,
      ...(turn === undefined ? {} : { turn }),
      ...(note === undefined ? {} : { note }),
    });
  if (verdict.verdict === "cannotJudge") {
    const next =
      fallback(state, "reviewer", verdict.summary, context) ??
      ([asking(context, "cannotJudge", `The reviewer cannot judge: ${verdict.summary}`)] satisfies Events);
    return [judged(state.findings), ...next];
  }
  const findings = findingsAfterVerdict(state, round?.round ?? 1, verdict, { onChangedLines });
  const isApproved = heldFindings(state, findings).length === 0;
  const isUnfounded = isApproved && verdict.verdict === "reject";
  const before = round?.reviews.some(
    (review) => review.reviewer === state.reviewer && review.verdict.verdict === "reject",
  );
  if (isUnfounded && before !== true)
    return [judged(findings, "Rejected without a blocking finding; asked once more.")];
  const note = isUnfounded ? "Rejected twice without a blocking finding; counted as approved." : undefined;
  const mode = reviewModeOf(state.spec);
  if (mode === "any" && isApproved) return [judged(approvedByOne(findings), note), ...finish(state)];
  const next = state.reviewer + 1;
  if (mode !== "first" && next < state.spec.reviewers.length) return [judged(findings, note, next)];
  return blockingFindings(findings).length > 0
    ? [judged(findings, note), ...reject(state, findings, context)]
    : [judged(findings, note), ...finish(state)];
}

/** Returns the events that follow the merge: the end, another round for a conflict, or the user. */
export function afterMerge(state: TaskState, outcome: MergeOutcome, context: DecisionContext): Events {
  // The round of the result: a later one may have begun before the user accepted it.
  const round = state.rounds.findLast(({ tree }) => tree !== undefined)?.round ?? 1;
  switch (outcome.kind) {
    case "merged": {
      const { kind: _kind, ...merged } = outcome;
      return [event("task/merged", merged), event("task/ended", { status: "done" })];
    }
    case "conflict": {
      const what = `Merge ${outcome.onto} and resolve the conflicts in ${outcome.files.join(", ")}.`;
      const findings = withComment(state, round, what, "merge");
      const conflict = event("merge/conflict", {
        files: outcome.files.slice(0, 200),
        onto: outcome.onto,
        findings,
      });
      if (state.conflicts === 0 && round < state.spec.rounds + state.extraRounds) return [conflict];
      return [conflict, asking(context, "conflict", `The result conflicts in ${outcome.files.join(", ")}.`)];
    }
    case "checksFailed": {
      const findings = findingsAfterChecks(state, round, outcome.results, "merge");
      return reject(state, findings, context);
    }
    case "unable":
      return outcome.mayPass
        ? backOff(state, outcome.message, context)
        : [asking(context, "failure", outcome.message)];
  }
}
