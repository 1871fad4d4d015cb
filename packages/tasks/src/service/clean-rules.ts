import { isEnded, type Params, type TaskState } from "@flint/protocol";

/** The folders that may be removed. */
export type CleanRequest = Params<"task/clean">;

/**
 * Returns the reason the folders of a task stay, as far as its state shows one; undefined if they may be
 * removed.
 */
export function retentionReason(
  state: Pick<TaskState, "id" | "phase" | "updatedAt">,
  { taskIds, olderThanMs = 0, force = false }: CleanRequest,
  now: number,
): string | undefined {
  const isNamed = taskIds?.includes(state.id) === true;
  if (!isEnded(state)) return "not finished";
  if (!isNamed && now - state.updatedAt < olderThanMs) return "too recent";
  if (state.phase !== "done" && !isNamed && !force) return state.phase;
  return undefined;
}

/** The tasks that are over a limit of how many keep their folders: those that ended first. */
export function worktreesOverLimit<Task extends Pick<TaskState, "updatedAt" | "phase">>(
  tasks: readonly Task[],
  most: number,
): readonly Task[] {
  const ended = tasks.filter(isEnded).sort((one, other) => one.updatedAt - other.updatedAt);
  return ended.slice(0, Math.max(0, tasks.length - most));
}
