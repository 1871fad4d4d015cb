import {
  currentRound,
  isEnded,
  type MergeMode,
  mergeModeOf,
  type TaskAnswer,
  type TaskState,
} from "@flint/protocol";
import { assertMergeable } from "../spec.ts";
import { type Events, event, TaskRefusal } from "./decision.ts";
import { withComment } from "./findings.ts";
import { fail } from "./finish.ts";

function named({ number, phase }: TaskState): string {
  if (phase === "approving") return `Task ${number} needs approval`;
  return phase === "asking" ? `Task ${number} needs an answer` : `Task ${number} is ${phase}`;
}

/** The user's answer to what a task asks. */
export function answer(state: TaskState, askId: string, reply: TaskAnswer, by: string): Events {
  if (state.ask === undefined) throw new TaskRefusal(`${named(state)} and has no open question.`);
  if (state.ask.id !== askId)
    throw new TaskRefusal(`Task ${state.number} has a different question now. Read it again.`);
  const answered = event("task/answered", { askId, answer: reply, by });
  switch (reply.choice) {
    case "continue":
      return [answered];
    case "fail":
      return [answered, ...fail(reply.message ?? `Given up by ${by}.`)];
    case "accept": {
      if (state.result === undefined)
        throw new TaskRefusal(`Task ${state.number} has no result to accept yet.`);
      return [answered, ...accepted(state, by)];
    }
  }
}

function accepted(state: TaskState, by: string): Events {
  const approved = event("task/approved", { by, tree: state.result?.tree ?? null });
  return mergeModeOf(state) === "none" ? [approved, event("task/ended", { status: "done" })] : [approved];
}

/** The user approves exactly the tree that was shown. */
export function approve(state: TaskState, tree: string | null, by: string): Events {
  requireApproving(state);
  requireShown(state, tree);
  return accepted(state, by);
}

function requireShown({ number, result }: TaskState, tree: string | null): void {
  if ((result?.tree ?? null) !== tree)
    throw new TaskRefusal(`The result of task ${number} has changed since it was shown. Review it again.`);
}

/** The user has exactly the tree that was shown merged after all: that of a task that is done without it, or whose merge asks. */
export function merge(
  state: TaskState,
  tree: string | null,
  mode: MergeMode | undefined,
  by: string,
): Events {
  const { number, phase, ask, merged, result, spec } = state;
  const isStuck = phase === "asking" && (state.step === "merge" || ask?.reason === "conflict");
  if (phase !== "done" && !isStuck) throw new TaskRefusal(`${named(state)}. ${beforeMerge(state)}`);
  if (merged !== undefined)
    throw new TaskRefusal(`The result of task ${number} is already in ${merged.ref}.`);
  if (result?.commit == null) throw new TaskRefusal(`Task ${number} has no commit to merge.`);
  requireShown(state, tree);
  const before = mergeModeOf(state);
  const chosen = mode ?? (before === "none" ? "branch" : before);
  if (chosen === "none") throw new TaskRefusal("Merging by none does nothing. Choose another mode.");
  assertMergeable(spec, chosen);
  const changed = chosen === before ? {} : { merge: chosen };
  return [
    ...(ask === undefined
      ? []
      : [event("task/answered", { askId: ask.id, answer: { choice: "accept" }, by })]),
    event("task/approved", { by, tree, ...changed }),
  ];
}

/** Returns what has to happen before a task can be merged. */
function beforeMerge({ number, phase }: TaskState): string {
  if (phase === "approving") return `Approve it first: flint tasks approve ${number}.`;
  if (phase === "asking") return `Answer it first: flint tasks answer ${number} "…".`;
  return phase === "failed" || phase === "cancelled"
    ? `Run it again first: flint tasks retry ${number}.`
    : "Only a result that is done can be merged.";
}

function requireApproving(state: TaskState): void {
  if (state.phase === "approving") return;
  const instead = state.phase === "asking" ? ` Answer it: flint tasks answer ${state.number} "…".` : "";
  throw new TaskRefusal(`${named(state)} and does not need an approval.${instead}`);
}

/** The user wants changes: the comments are the findings of another round. */
export function rejectResult(state: TaskState, comments: string, by: string): Events {
  requireApproving(state);
  const findings = withComment(state, currentRound(state)?.round ?? 1, comments, "user");
  return [event("task/rejected", { by, comments, findings })];
}

/** The user cancels the task, whatever it does. */
export function cancel(state: TaskState, by: string, reason?: string): Events {
  if (isEnded(state)) throw new TaskRefusal(`${named(state)} already.`);
  return [event("task/cancelled", { by, ...(reason === undefined ? {} : { reason }) })];
}

/** The user has the task done again, from its base or from the result of a round. */
export function retry(state: TaskState, by: string, from: RoundChoice = {}): Events {
  if (!isEnded(state)) throw new TaskRefusal(`${named(state)}. Cancel it first, or answer what it asks.`);
  const commit = commitOf(state, from);
  return [event("task/retried", { by, ...(commit === undefined ? {} : { from: commit }) })];
}

/** A round of a task: of its last attempt, and the last one with a result, unless it says another. */
export interface RoundChoice {
  readonly fromAttempt?: number | undefined;
  readonly fromRound?: number | undefined;
}

/** The result of a round; undefined if none was chosen. */
function commitOf(state: TaskState, { fromAttempt, fromRound }: RoundChoice): string | undefined {
  if (fromAttempt === undefined && fromRound === undefined) return undefined;
  const known = results(state);
  const attempt = fromAttempt ?? state.attempt;
  const chosen = known.findLast(
    (each) => each.attempt === attempt && (fromRound === undefined || each.round === fromRound),
  );
  if (chosen !== undefined) return chosen.commit;
  const what = [
    fromAttempt === undefined ? [] : `a${fromAttempt}`,
    fromRound === undefined ? [] : `r${fromRound}`,
  ];
  const there = known.map((each) => `a${each.attempt}.r${each.round}`).join(", ") || "none";
  throw new TaskRefusal(
    `Task ${state.number} has no result of ${what.flat().join(".")}. Results that it has: ${there}.`,
  );
}

/** The rounds of all attempts that have a result, oldest first. */
function results({ attempt: last, rounds, earlierAttempts }: TaskState) {
  return [...earlierAttempts, { attempt: last, rounds }].flatMap(({ attempt, rounds: all }) =>
    all.flatMap(({ round, commit }) => (typeof commit === "string" ? [{ attempt, round, commit }] : [])),
  );
}

/** The user pauses the task; a running turn is interrupted. */
export function suspend(state: TaskState, by: string): Events {
  if (isEnded(state)) throw new TaskRefusal(`${named(state)} already.`);
  if (state.phase === "suspended" && state.suspended?.reason === "user")
    throw new TaskRefusal(`${named(state)} already.`);
  if (state.phase === "asking" || state.phase === "approving")
    throw new TaskRefusal(`${named(state)}: it is already waiting for you.`);
  return [event("task/suspended", { reason: "user", message: `Suspended by ${by}.` })];
}

/** The user has a suspended task continue now. */
export function resume(state: TaskState, by: string): Events {
  if (state.phase !== "suspended") throw new TaskRefusal(`${named(state)}, not suspended.`);
  return [event("task/resumed", { by })];
}
