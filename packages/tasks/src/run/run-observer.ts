import type { TaskEventData, TaskState, Thread } from "@flint/protocol";
import type { AgentEvent } from "@flint/sdk";

/** The role of an agent in a task. */
export type RoleName = "executor" | "reviewer";

/** Follows the turns of a run. What it does never changes the run. */
export interface RunObserver {
  /** The thread in which the next turn of a role runs, new or resumed. */
  onThread(state: TaskState, role: RoleName, thread: Thread, isResumed: boolean): void;
  /** An event of a role's turn. */
  onEvent(state: TaskState, role: RoleName, event: AgentEvent): void;
  /** Another agent takes over a role; `state` has it already. */
  onFallback(state: TaskState, fallback: TaskEventData<"task/fallback">): void;
}
