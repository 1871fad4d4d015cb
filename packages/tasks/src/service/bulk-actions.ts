import { FlintError, isEnded, type Result, type TaskState, taskRow } from "@flint/protocol";
import { type Events, TaskRefusal } from "../decide/decision.ts";
import * as userActions from "../decide/user-actions.ts";
import type { TaskStore } from "../store/task-store.ts";
import { assertVerified, type VerifyTask } from "./verify-task.ts";

/** Dependencies of the actions on all tasks. */
export interface BulkOptions {
  readonly store: TaskStore;
  readonly verify?: VerifyTask | undefined;
}

type Done = Result<"task/suspendAll">;

/** Maximum number of attempts on a task that keeps changing. */
const TRIES = 10;

/** Suspends every task that has not ended. Those that no worker has come first, so that none of them starts in between. */
export function suspendAll(options: BulkOptions, by: string): Promise<Done> {
  return forAll(
    options,
    (state) => !isEnded(state) && !isSuspendedByUser(state),
    (state) => userActions.suspend(state, by),
  );
}

/** Resumes every suspended task. */
export function resumeAll(options: BulkOptions, by: string): Promise<Done> {
  return forAll(
    options,
    ({ phase }) => phase === "suspended",
    (state) => userActions.resume(state, by),
  );
}

function isSuspendedByUser({ phase, suspended }: TaskState): boolean {
  return phase === "suspended" && suspended?.reason === "user";
}

async function forAll(
  options: BulkOptions,
  isMeant: (state: TaskState) => boolean,
  decide: (state: TaskState) => Events,
): Promise<Done> {
  const tasks = (await options.store.list()).filter(isMeant);
  const done: Done = { data: [], skipped: [] };
  for (const task of tasks.toSorted((left, right) => Number(isRunning(left)) - Number(isRunning(right)))) {
    // Expected: it waits for the user, is not verified, or keeps changing. The others do not wait for it.
    try {
      const state = await decideOne(options, task.id, isMeant, decide);
      if (state !== undefined) done.data.push(taskRow(state));
    } catch (thrown) {
      if (!(thrown instanceof TaskRefusal || thrown instanceof FlintError)) throw thrown;
      const { id: taskId, number } = task;
      done.skipped.push({ taskId, number, reason: thrown.message });
    }
  }
  done.data.sort((left, right) => left.number - right.number);
  return done;
}

function isRunning({ phase }: TaskState): boolean {
  return phase === "running";
}

/** The state after the decision; undefined if there is nothing to decide any more. */
async function decideOne(
  { store, verify }: BulkOptions,
  task: string,
  isMeant: (state: TaskState) => boolean,
  decide: (state: TaskState) => Events,
): Promise<TaskState | undefined> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const state = await store.read(task);
    if (state === undefined || !isMeant(state)) return undefined;
    await assertVerified(state, verify);
    const result = await store.commit({ task, expect: state.version, events: decide(state) });
    if (result.status === "ok") return result.state;
  }
  throw new FlintError("overloaded", "The task keeps changing; try again.");
}
