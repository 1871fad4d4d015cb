import type { TaskRow } from "@flint/protocol";

/** The progress of a task: it continues without the user, waits for the user or for a time, or has ended. */
export type TaskProgress = "continues" | "needsUser" | "suspended" | "failed" | "ended";

const PROGRESS: Readonly<Record<TaskRow["phase"], TaskProgress>> = {
  waiting: "continues",
  ready: "continues",
  running: "continues",
  suspended: "suspended",
  asking: "needsUser",
  approving: "needsUser",
  done: "ended",
  failed: "failed",
  cancelled: "ended",
};

/** Returns the progress of a task. One that waits for others has theirs. */
export function progressOf(task: TaskRow, all: readonly TaskRow[]): TaskProgress {
  return PROGRESS[(blockerOf(task, all) ?? task).phase];
}

/**
 * The task that a waiting one comes after, directly or not, and that does not continue without the user, or before its
 * suspension is over; undefined if the waiting one continues.
 */
export function blockerOf(task: TaskRow, all: readonly TaskRow[]): TaskRow | undefined {
  const byId = new Map(all.map((known) => [known.id, known]));
  const before = new Set<TaskRow>();
  const visit = ({ phase, after = [] }: TaskRow): void => {
    if (phase !== "waiting") return;
    for (const id of after) {
      const dependency = byId.get(id);
      if (dependency === undefined || before.has(dependency)) continue;
      before.add(dependency);
      visit(dependency);
    }
  };
  visit(task);
  const progress = (requested: TaskProgress) =>
    [...before].find(({ phase }) => PROGRESS[phase] === requested);
  return progress("needsUser") ?? progress("suspended");
}
