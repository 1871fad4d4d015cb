import {
  type CheckpointedTurn,
  type Checkpoints,
  checkThreadId,
  type FilesOutcome,
  type FilesPreview,
  type TurnCheckpoint,
  type TurnsToUndo,
} from "@flint/core/ports";
import type { FileRestore } from "@flint/protocol";
import { Blobs, makeFolders, replaceFile, restrictAccess } from "./disk/blobs.ts";
import { type Disk, NODE_DISK } from "./disk/disk.ts";
import { realRoots } from "./disk/roots.ts";
import { Sweep } from "./disk/sweep.ts";
import { ThreadRecords } from "./records/thread-records.ts";
import { FileTurnCheckpoint } from "./records/turn-checkpoint.ts";
import { filesOutcome, type Plan } from "./restore/plan.ts";
import { withDiffs } from "./restore/preview-diffs.ts";
import { ThreadFiles } from "./restore/thread-files.ts";
import type { CaptureContext } from "./scan/capture.ts";
import { Workspace } from "./scan/workspace.ts";
import { type CheckpointLimits, DEFAULT_LIMITS } from "./scan/workspace-scan.ts";

/** The folder of checkpoints, and their limits. */
export interface FileCheckpointsOptions {
  /** The state folder; checkpoints have their own folder in it. */
  readonly root: string;
  readonly limits?: Partial<CheckpointLimits>;
  /** Time for which content stays that no record refers to. Default: one hour. */
  readonly graceMs?: number;
  readonly disk?: Disk;
}

const HOUR_MS = 60 * 60 * 1_000;
/** Interval at which unreferenced contents are swept. */
const SWEEP_EVERY_MS = 24 * HOUR_MS;
/** The number of workspaces that are cached. */
const MAX_WORKSPACES = 8;

/** Stores checkpoints in files that only their owner can read, outside of every workspace. */
export class FileCheckpoints implements Checkpoints {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #stateFolder: string;
  readonly #graceMs: number;
  readonly #limits: CheckpointLimits;
  readonly #context: CaptureContext;
  readonly #workspaces = new Map<string, Workspace>();
  readonly #ephemeral = new Set<string>();
  /** The ids of turns with an open checkpoint. */
  readonly #running = new Set<string>();
  readonly #closing = new AbortController();
  #sweeping: Promise<void> | undefined;

  constructor(options: FileCheckpointsOptions) {
    this.#disk = options.disk ?? NODE_DISK;
    this.#stateFolder = options.root;
    this.#folder = `${options.root}/checkpoints`;
    this.#graceMs = options.graceMs ?? HOUR_MS;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    const blobs = new Blobs(this.#disk, `${this.#folder}/blobs`);
    this.#context = { disk: this.#disk, blobs, limit: this.#limits.file };
  }

  async begin(turn: CheckpointedTurn): Promise<TurnCheckpoint> {
    if (turn.ephemeral) this.#ephemeral.add(turn.threadId);
    try {
      restrictAccess(this.#disk, this.#folder);
      await this.#thread(turn.threadId).settle(this.#running);
    } catch (error) {
      // An earlier turn could not be completed, most likely because the disk is full; this one may still be saved.
      turn.onError(error);
    }
    this.#sweepIfDue();
    const workspace = this.#workspace(realRoots(this.#disk, turn.roots));
    const records = this.#records(turn.threadId);
    const saved = new FileTurnCheckpoint({ turn, context: this.#context, workspace, records });
    this.#running.add(turn.turnId);
    return {
      saveFiles: (paths) => saved.saveFiles(paths),
      saveWorkspace: (signal) => saved.saveWorkspace(signal),
      end: () => saved.end().finally(() => this.#running.delete(turn.turnId)),
    };
  }

  async preview({ threadId, turnIds, cwd }: TurnsToUndo): Promise<FilesPreview> {
    const thread = this.#thread(threadId);
    await thread.settle(this.#running);
    const { plan, saved } = thread.preview(new Set(turnIds));
    const outcome = this.#outcome(plan, "planned", cwd);
    const files = await withDiffs(this.#context, plan.steps, outcome.files);
    return { ...outcome, files, savedTurnIds: saved };
  }

  async restore({ threadId, turnIds, cwd }: TurnsToUndo, revertId: string): Promise<FilesPreview> {
    const thread = this.#thread(threadId);
    await thread.settle(this.#running);
    const { plan, saved } = await thread.restore(new Set(turnIds), revertId);
    return { ...this.#outcome(plan, "done", cwd), savedTurnIds: saved };
  }

  async undo(threadId: string, revertId: string, cwd: string): Promise<FilesOutcome> {
    const thread = this.#thread(threadId);
    await thread.settle(this.#running);
    const plan = await thread.undo(revertId);
    return plan === undefined ? { files: [], conflicts: [], notSaved: [] } : this.#outcome(plan, "done", cwd);
  }

  async remove(threadId: string): Promise<void> {
    await this.#disk.removeTree(this.#folderOf(threadId));
    this.#ephemeral.delete(threadId);
    this.#sweep();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const workspace of this.#workspaces.values()) workspace.close();
    await this.#sweeping;
    await Promise.all(
      [...this.#ephemeral].map((threadId) => this.#disk.removeTree(this.#folderOf(threadId))),
    );
  }

  /** Resolves when background work has ended. */
  async settled(): Promise<void> {
    await this.#sweeping;
  }

  /** Stored paths have no links, so they are made relative to the real path of `cwd`. */
  #outcome(plan: Plan, status: FileRestore["status"], cwd: string): FilesOutcome {
    const [real = cwd] = realRoots(this.#disk, [cwd]);
    return filesOutcome(plan, status, real);
  }

  #thread(threadId: string): ThreadFiles {
    const workspace = (roots: readonly string[]) => this.#workspace(roots);
    return new ThreadFiles({ context: this.#context, records: this.#records(threadId), workspace });
  }

  #records(threadId: string): ThreadRecords {
    return new ThreadRecords(this.#disk, this.#folderOf(threadId));
  }

  #folderOf(threadId: string): string {
    checkThreadId(threadId);
    return `${this.#folder}/${this.#ephemeral.has(threadId) ? "ephemeral" : "threads"}/${threadId}`;
  }

  #workspace(roots: readonly string[]): Workspace {
    const key = roots.join("\0");
    const known = this.#workspaces.get(key) ?? this.#newWorkspace(roots);
    this.#workspaces.delete(key);
    this.#workspaces.set(key, known);
    const [oldest] = this.#workspaces.keys();
    if (this.#workspaces.size > MAX_WORKSPACES && oldest !== undefined) this.#workspaces.delete(oldest);
    return known;
  }

  #newWorkspace(roots: readonly string[]): Workspace {
    const folder = `${this.#folder}/workspaces`;
    const [stateFolder = this.#stateFolder] = realRoots(this.#disk, [this.#stateFolder]);
    return new Workspace({ ...this.#context, limits: this.#limits, folder, stateFolder }, roots);
  }

  #sweepIfDue(): void {
    const stats = this.#disk.stat(`${this.#folder}/swept`);
    if (stats === undefined || Date.now() - stats.mtimeMs > SWEEP_EVERY_MS) this.#sweep();
  }

  #sweep(): void {
    const { signal } = this.#closing;
    if (this.#sweeping !== undefined || signal.aborted) return;
    const ephemeral = `${this.#folder}/ephemeral`;
    const sweep = new Sweep({
      disk: this.#disk,
      records: [`${this.#folder}/threads`, ephemeral],
      ephemeral,
      workspaces: `${this.#folder}/workspaces`,
      blobs: `${this.#folder}/blobs`,
      graceMs: this.#graceMs,
      signal,
    });
    this.#sweeping = sweep
      .run()
      .then(() => this.#markSwept())
      // Files that could not be swept are swept next time.
      .catch(() => undefined)
      .finally(() => {
        this.#sweeping = undefined;
      });
  }

  async #markSwept(): Promise<void> {
    makeFolders(this.#disk, this.#folder);
    await replaceFile(this.#disk, `${this.#folder}/swept`, Buffer.alloc(0));
  }
}
