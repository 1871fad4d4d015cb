import { reviewModeOf, type TaskRow, type TaskSpec } from "@flint/protocol";
import { duration, money } from "../amounts.ts";

/** Order of a list: tasks that wait for the user, then running ones, then waiting ones, then ended ones. */
const ORDER: readonly TaskRow["phase"][] = [
  "asking",
  "approving",
  "running",
  "suspended",
  "ready",
  "waiting",
  "failed",
  "cancelled",
  "done",
];

/** Tasks in the order in which they matter to the user. */
export function sortedTasks(tasks: readonly TaskRow[]): TaskRow[] {
  return [...tasks].sort(
    (left, right) => ORDER.indexOf(left.phase) - ORDER.indexOf(right.phase) || left.number - right.number,
  );
}

/** Reports whether a task has ended or waits for the user. */
export function hasEnded({ phase }: TaskRow): boolean {
  return phase === "done" || phase === "failed" || phase === "cancelled";
}

/** The columns of a task in a list. */
export function taskCells(task: TaskRow, now: number): string[] {
  return [`#${task.number}`, statusOf(task, now), roundOf(task), agentsOf(task), usageText(task), task.title];
}

/** The titles of those columns. */
export const TASK_COLUMNS = ["TASK", "STATUS", "ROUND", "AGENTS", "USED", "TITLE"];

/** Describes the status of a task in a few words. */
export function statusOf(task: TaskRow, now: number): string {
  switch (task.phase) {
    case "running":
      return STEPS[task.step ?? "execute"];
    case "suspended":
      return task.untilMs === undefined
        ? "suspended"
        : `suspended, ${duration(Math.max(0, task.untilMs - now))} left`;
    case "asking":
      return "needs an answer";
    case "approving":
      return "needs approval";
    case "waiting":
      return task.notBeforeMs === undefined || task.notBeforeMs <= now
        ? task.phase
        : `starts in ${duration(task.notBeforeMs - now)}`;
    case "ready":
      return task.untilMs === undefined || task.untilMs <= now
        ? task.phase
        : `waits for a usage limit, ${duration(task.untilMs - now)} left`;
    case "done":
    case "failed":
    case "cancelled":
      return task.phase;
  }
}

const STEPS: Readonly<Record<NonNullable<TaskRow["step"]>, string>> = {
  prepare: "preparing",
  execute: "working",
  check: "checking",
  review: "in review",
  merge: "merging",
};

/** Returns the round of a task and their number; `-` before the first one. */
export function roundOf({ round, rounds, attempt }: TaskRow): string {
  if (round === 0) return "-";
  return attempt === 1 ? `${round}/${rounds}` : `${round}/${rounds}, attempt ${attempt}`;
}

function agentsOf({ executor, reviewer }: TaskRow): string {
  return reviewer === undefined ? executor : `${executor} → ${reviewer}`;
}

/** Describes the cost of a task so far, in money and time. */
export function usageText({ usage }: Pick<TaskRow, "usage">): string {
  const time = duration(usage.seconds * 1000);
  return usage.cost === undefined ? time : `${money(usage.cost)}, ${time}`;
}

/** The reviewers of a task, and whose review counts if there are several. */
export function reviewersText(spec: Pick<TaskSpec, "reviewers" | "reviews">): string {
  const names = spec.reviewers.map(({ model }) => model ?? "default").join(", ");
  const words = { first: "the others are fallbacks", all: "all must approve", any: "one approval is enough" };
  return spec.reviewers.length > 1 ? `${names} (${words[reviewModeOf(spec)]})` : names || "none";
}

/** The round that people write as `r2`, `2`, `a1` or `a1.r2`; undefined for anything else. */
export function roundChoice(
  text: string,
): { readonly fromAttempt?: number; readonly fromRound?: number } | undefined {
  const [match, attempt, round, alone] = /^(?:a([1-9]\d*)(?:\.r([1-9]\d*))?|r?([1-9]\d*))$/.exec(text) ?? [];
  if (match === undefined) return undefined;
  const fromRound = round ?? alone;
  return {
    ...(attempt === undefined ? {} : { fromAttempt: Number(attempt) }),
    ...(fromRound === undefined ? {} : { fromRound: Number(fromRound) }),
  };
}

/** Reports whether a task is done and its result can still be merged. */
export function isMergeable({ phase, merged, result }: TaskRow): boolean {
  return phase === "done" && merged === undefined && result?.commit != null;
}

/** Returns what the user can do about a task; undefined if nothing has to be done. */
export function nextStep(task: TaskRow): string | undefined {
  const { number } = task;
  if (task.phase === "approving") return `flint tasks approve ${number}, or flint tasks reject ${number} "…"`;
  if (task.phase === "asking") return `flint tasks answer ${number} "…", or end it with --accept or --fail`;
  if (isMergeable(task)) return `flint tasks merge ${number} brings the result into the repository`;
  if (task.phase === "failed") return `flint tasks retry ${number}`;
  return undefined;
}
