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
import { Blobs, makeFolders, replaceFile, tighten } from "./disk/blobs.ts";
import { type Disk, NODE_DISK } from "./disk/disk.ts";
import { realRoots } from "./disk/roots.ts";
import { Sweep } from "./disk/sweep.ts";
import { ThreadRecords } from "./records/thread-records.ts";
import { SavedTurn } from "./records/turn-checkpoint.ts";
import { type Plan, toldFiles } from "./restore/plan.ts";
import { ThreadFiles } from "./restore/thread-files.ts";
import type { CaptureTools } from "./scan/capture.ts";
import { Workspace } from "./scan/workspace.ts";
import { type CheckpointLimits, DEFAULT_LIMITS } from "./scan/workspace-scan.ts";

/** How checkpoints are kept. */
export interface FileCheckpointsOptions {
  /** The state folder; checkpoints live in a folder of their own in it. */
  readonly root: string;
  readonly limits?: Partial<CheckpointLimits>;
  /** How long a content that nobody owns stays. An hour unless told. */
  readonly graceMs?: number;
  readonly disk?: Disk;
}

const HOUR_MS = 60 * 60 * 1_000;
/** How often contents without an owner are looked for. */
const SWEEP_EVERY_MS = 24 * HOUR_MS;
/** How many workspaces are remembered in memory. */
const MOST_WORKSPACES = 8;

/** Checkpoints in files that only their owner can read, outside of every workspace. */
export class FileCheckpoints implements Checkpoints {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #own: string;
  readonly #graceMs: number;
  readonly #limits: CheckpointLimits;
  readonly #tools: CaptureTools;
  readonly #workspaces = new Map<string, Workspace>();
  readonly #ephemeral = new Set<string>();
  /** The turns that save files now. */
  readonly #running = new Set<string>();
  readonly #closing = new AbortController();
  #sweeping: Promise<void> | undefined;

  constructor(options: FileCheckpointsOptions) {
    this.#disk = options.disk ?? NODE_DISK;
    this.#own = options.root;
    this.#folder = `${options.root}/checkpoints`;
    this.#graceMs = options.graceMs ?? HOUR_MS;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    const blobs = new Blobs(this.#disk, `${this.#folder}/blobs`);
    this.#tools = { disk: this.#disk, blobs, limit: this.#limits.file };
  }

  async begin(turn: CheckpointedTurn): Promise<TurnCheckpoint> {
    if (turn.ephemeral) this.#ephemeral.add(turn.threadId);
    try {
      tighten(this.#disk, this.#folder);
      await this.#thread(turn.threadId).settle(this.#running);
    } catch (error) {
      // An earlier turn could not be settled, most likely for want of room; this one may still be saved.
      turn.onError(error);
    }
    this.#sweepNowAndThen();
    const workspace = this.#workspace(realRoots(this.#disk, turn.roots));
    const records = this.#records(turn.threadId);
    const saved = new SavedTurn({ turn, tools: this.#tools, workspace, records });
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
    return { ...this.#told(plan, "planned", cwd), savedTurnIds: saved };
  }

  async restore({ threadId, turnIds, cwd }: TurnsToUndo, revertId: string): Promise<FilesPreview> {
    const thread = this.#thread(threadId);
    await thread.settle(this.#running);
    const { plan, saved } = await thread.restore(new Set(turnIds), revertId);
    return { ...this.#told(plan, "done", cwd), savedTurnIds: saved };
  }

  async undo(threadId: string, revertId: string, cwd: string): Promise<FilesOutcome> {
    const thread = this.#thread(threadId);
    await thread.settle(this.#running);
    const plan = await thread.undo(revertId);
    return plan === undefined ? { files: [], conflicts: [], notSaved: [] } : this.#told(plan, "done", cwd);
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

  /** Resolves when what was begun in the background has ended. */
  async settled(): Promise<void> {
    await this.#sweeping;
  }

  /** Paths are told from the folder that `cwd` really is, because they are kept without links. */
  #told(plan: Plan, status: FileRestore["status"], cwd: string): FilesOutcome {
    const [real = cwd] = realRoots(this.#disk, [cwd]);
    return toldFiles(plan, status, real);
  }

  #thread(threadId: string): ThreadFiles {
    const workspace = (roots: readonly string[]) => this.#workspace(roots);
    return new ThreadFiles({ tools: this.#tools, records: this.#records(threadId), workspace });
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
    if (this.#workspaces.size > MOST_WORKSPACES && oldest !== undefined) this.#workspaces.delete(oldest);
    return known;
  }

  #newWorkspace(roots: readonly string[]): Workspace {
    const folder = `${this.#folder}/workspaces`;
    const [own = this.#own] = realRoots(this.#disk, [this.#own]);
    return new Workspace({ ...this.#tools, limits: this.#limits, folder, own }, roots);
  }

  #sweepNowAndThen(): void {
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
      .then(() => this.#noteSwept())
      // What could not be swept now is swept another time.
      .catch(() => undefined)
      .finally(() => {
        this.#sweeping = undefined;
      });
  }

  async #noteSwept(): Promise<void> {
    makeFolders(this.#disk, this.#folder);
    await replaceFile(this.#disk, `${this.#folder}/swept`, Buffer.alloc(0));
  }
}
