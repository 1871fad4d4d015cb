import { errorMessage, isEnded, type Result, type TaskState } from "@flint/protocol";
import type { TaskFolders } from "../run/task-folders.ts";
import type { TaskStore } from "../store/task-store.ts";
import { type CleanRequest, retentionReason, worktreesOverLimit } from "./clean-rules.ts";
import type { VerifyTask } from "./verify-task.ts";

/** Limits on the disk space of tasks; absent ones have their default. */
export interface DiskSettings {
  /** Time for which the worktree of a task stays after the task is done. */
  readonly keepDays?: number | undefined;
  /** Maximum number of tasks that keep their worktrees; finished ones lose theirs first. */
  readonly maxWorktrees?: number | undefined;
  /** No turn starts with less free space than this. */
  readonly minFreeMb?: number | undefined;
}

/** The dependencies of a cleaner. */
export interface CleanerOptions {
  readonly store: Pick<TaskStore, "list" | "subscribe">;
  readonly folders: TaskFolders;
  readonly now: () => number;
  readonly disk?: DiskSettings | undefined;
  /** Verifies that a task is as it was added; the folders of others stay. */
  readonly verify?: VerifyTask | undefined;
  onProblem(message: string): void;
}

type Cleaned = Result<"task/clean">["data"][number];

const DAY_MS = 86_400_000;
const MB = 1024 * 1024;
const KEEP_DAYS = 3;
const MAX_WORKTREES = 50;
const MIN_FREE_MB = 512;

/** Removes the folders of finished tasks. Commits stay, and a folder with anything that is in no commit stays too. */
export class TaskCleaner {
  readonly #options: CleanerOptions;
  readonly #unsubscribe: () => void;
  #last: Promise<unknown> = Promise.resolve();
  #isWaiting = false;
  #isStopped = false;

  constructor(options: CleanerOptions) {
    this.#options = options;
    this.#unsubscribe = options.store.subscribe(({ state }) => {
      if (isEnded(state)) this.wake();
    });
  }

  /** Removes what the settings do not keep. It needs no timer: it is called at the start and when a task has ended. */
  wake(): void {
    if (this.#isWaiting || this.#isStopped) return;
    this.#isWaiting = true;
    void this.#inOrder(async () => {
      this.#isWaiting = false;
      if (!this.#isStopped) await this.#cleanBySettings();
    })
      // Expected: a file in a folder cannot be removed. The tasks run all the same.
      .catch((thrown: unknown) => this.#options.onProblem(`Worktrees are kept: ${errorMessage(thrown)}`));
  }

  /** Removes folders, or says which ones it would remove, with their sizes. */
  async clean(request: CleanRequest): Promise<Result<"task/clean">> {
    const data = await this.#inOrder(() => this.#clean(request, true));
    const { bytes } = await this.#options.folders.free();
    return { data, freeBytes: bytes, minFreeBytes: this.#minFree };
  }

  /** Returns the reason no turn can start; undefined if there is enough space, if need be after cleaning. */
  async problem(): Promise<string | undefined> {
    const { folders } = this.#options;
    if ((await folders.free()).bytes >= this.#minFree) return undefined;
    await this.#inOrder(() => this.#clean({}, false));
    const { folder, bytes } = await folders.free();
    if (bytes >= this.#minFree) return undefined;
    const [free, least] = [bytes, this.#minFree].map((amount) => `${Math.floor(amount / MB)} MiB`);
    return `The disk is almost full: ${free} are free at ${folder}, and a turn starts with at least ${least} (tasks.min_free_mb). See what can be removed with: flint tasks clean --dry-run`;
  }

  /** Resolves once nothing is being removed. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#unsubscribe();
    await this.#last;
  }

  get #minFree(): number {
    return (this.#options.disk?.minFreeMb ?? MIN_FREE_MB) * MB;
  }

  /** One after the other, so that no folder is removed twice at once. */
  #inOrder<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #cleanBySettings(): Promise<void> {
    const { keepDays = KEEP_DAYS, maxWorktrees = MAX_WORKTREES } = this.#options.disk ?? {};
    await this.#clean({ olderThanMs: keepDays * DAY_MS }, false);
    const over = new Set(worktreesOverLimit(await this.#tasksHere(), maxWorktrees));
    for (const state of over) await this.#cleanOne(state, {}, false);
  }

  async #tasksHere(): Promise<TaskState[]> {
    const occupied = await this.#options.folders.occupied();
    if (occupied.size === 0) return [];
    return (await this.#options.store.list()).filter(({ id }) => occupied.has(id));
  }

  async #clean(request: CleanRequest, withSizes: boolean): Promise<Cleaned[]> {
    const { taskIds } = request;
    const here = await this.#tasksHere();
    const chosen = here.filter(({ id }) => taskIds === undefined || taskIds.includes(id));
    const cleaned: Cleaned[] = [];
    for (const state of chosen) cleaned.push(await this.#cleanOne(state, request, withSizes));
    return cleaned;
  }

  async #cleanOne(state: TaskState, request: CleanRequest, withSize: boolean): Promise<Cleaned> {
    const { folders, now, verify } = this.#options;
    const { id: taskId, number, phase, updatedAt: updatedAtMs, spec } = state;
    const unverified = await verify?.(state);
    if (unverified !== undefined)
      return { taskId, number, phase, updatedAtMs, title: spec.title, bytes: 0, kept: unverified };
    const bytes = withSize ? await folders.bytes(state) : 0;
    const kept =
      retentionReason(state, request, now()) ??
      (request.force === true || (await folders.isCommitted(state)) ? undefined : "changes in no commit");
    if (kept === undefined && request.dryRun !== true) await folders.clear(state);
    const facts = { taskId, number, phase, updatedAtMs, title: spec.title, bytes };
    return kept === undefined ? facts : { ...facts, kept };
  }
}
