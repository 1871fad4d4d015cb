import type { TaskEvent, TaskEventBody, TaskSpec, TaskState } from "@flint/protocol";

/** The right to write for a task until a time. The fence rises with each lease; the id tells leases of one fence apart. */
export interface Lease {
  readonly task: string;
  readonly runId: string;
  readonly worker: string;
  readonly fence: number;
  readonly id: string;
}

/** A run whose lease ended without a word. Its fence is void: nothing it writes is accepted any more. */
export interface LostRun {
  readonly task: string;
  /** The fence that is in force instead. */
  readonly fence: number;
}

/** Events to append, and what they rest on. */
export interface TaskWrite {
  readonly task: string;
  /** The version of the state that the events were decided from. */
  readonly expect: number;
  /** The lease of the worker that writes; absent for users and the scheduler. */
  readonly lease?: Lease | undefined;
  readonly events: readonly TaskEventBody[];
}

/** The outcome of a write. `stale`: decide again from the newer state. `fenced`: the lease is over, stop at once. */
export type WriteResult =
  | { readonly status: "ok"; readonly state: TaskState }
  | { readonly status: "stale"; readonly state: TaskState }
  | { readonly status: "fenced" }
  | { readonly status: "unknown" };

/** A task to add. Adding with the same key again returns the task that is there. */
export interface NewTask {
  /** Given by a caller that adds several tasks that depend on each other; otherwise the store chooses one. */
  readonly id?: string | undefined;
  readonly spec: TaskSpec;
  readonly by: string;
  readonly waiting: boolean;
  readonly key?: string | undefined;
}

/** Something that happened to a task, with the state after it. */
export interface TaskChange {
  readonly state: TaskState;
  readonly events: readonly TaskEvent[];
}

/**
 * The truth about tasks: their events, and who may write them. Every write names the version it rests on, and a
 * worker's also its lease, so that no decision is taken twice and nothing of a lost run counts.
 */
export interface TaskStore {
  add(task: NewTask): Promise<TaskState>;
  commit(write: TaskWrite): Promise<WriteResult>;
  /** Takes a ready task for a worker; undefined if somebody else has it or it is not ready. */
  lease(task: string, worker: string, milliseconds: number): Promise<Lease | undefined>;
  /** Extends a lease; false if it is over. */
  renew(lease: Lease, milliseconds: number): Promise<boolean>;
  /** Voids the leases that were not renewed in time. */
  sweep(): Promise<readonly LostRun[]>;
  read(task: string): Promise<TaskState | undefined>;
  /** The state as it was last seen by this process; others may have changed it since. */
  known(task: string): TaskState | undefined;
  events(task: string, after?: number): Promise<readonly TaskEvent[]>;
  /** All tasks, oldest first. */
  list(): Promise<readonly TaskState[]>;
  /** Calls for every change from now on, in order; returns how to stop. */
  subscribe(listener: (change: TaskChange) => void): () => void;
  remove(task: string): Promise<boolean>;
  close(): Promise<void>;
}
