/** A run that waits for a worker. Holds only what finds it: what there is to do is in the store. */
export interface QueuedRun {
  readonly task: string;
  /** The fence that the lease of the run will have; with the task it names the run. */
  readonly fence: number;
  /** The pool of workers that may take it. */
  readonly pool: string;
  /** Higher comes first. */
  readonly priority: number;
  /** Kept back this long. */
  readonly delayMs?: number | undefined;
}

/** A run by its name. */
export type RunName = Pick<QueuedRun, "task" | "fence" | "pool">;

/** Takes runs from a queue until it is closed. */
export interface RunTaker {
  /** Takes nothing more. Resolves once what was taken is done. */
  close(): Promise<void>;
}

/**
 * Brings runs to workers, and nothing else: a run that was delivered and did not happen is not delivered again unless
 * it is put again. Whether a worker may run a task, the store decides.
 */
export interface RunQueue {
  /** Puts a run, once however often it is put while it waits or is being handled. */
  put(run: QueuedRun): Promise<void>;
  /** Hands over runs of these pools, as many at once. The handler does not reject. */
  take(
    pools: readonly string[],
    concurrency: number,
    handler: (run: Pick<QueuedRun, "task" | "fence">) => Promise<void>,
  ): RunTaker;
  /** Takes back a run that waits; nothing happens to one that is being handled. */
  remove(run: RunName): Promise<void>;
  close(): Promise<void>;
}

/** The pool of tasks and workers that name none. */
export const DEFAULT_POOL = "default";

/** The pool of a single worker, for runs that continue best where they were. */
export function poolOfWorker(worker: string): string {
  return `@${worker}`;
}

/** The name of a run within its pool. */
export function runKey({ task, fence }: Pick<QueuedRun, "task" | "fence">): string {
  return `${task}.${fence}`;
}
