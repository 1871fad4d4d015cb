import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { FilesPreview, TurnCheckpoint } from "@flint/core/ports";
import { mintId } from "@flint/protocol";
import { type Disk, NODE_DISK } from "../disk/disk.ts";
import { FileCheckpoints, type FileCheckpointsOptions } from "../file-checkpoints.ts";

/** A folder that is deleted after its test. */
interface TestFolder {
  readonly path: string;
  join(...parts: readonly string[]): string;
}

const NEVER = new AbortController().signal;

/** A workspace and its checkpoints, deleted after the test. */
export class CheckpointFixture {
  readonly workspace: TestFolder;
  readonly state: TestFolder;
  readonly threadId = "thread";
  readonly failures: unknown[] = [];
  checkpoints: FileCheckpoints;

  private constructor(workspace: TestFolder, state: TestFolder, options: CheckpointFixtureOptions) {
    this.workspace = workspace;
    this.state = state;
    this.checkpoints = new FileCheckpoints({ root: state.path, ...options });
  }

  static async make(
    folder: () => Promise<TestFolder>,
    options: CheckpointFixtureOptions = {},
  ): Promise<CheckpointFixture> {
    return new CheckpointFixture(await folder(), await folder(), options);
  }

  /** Continues like another process with the same folders. */
  restart(options: CheckpointFixtureOptions = {}): void {
    this.checkpoints = new FileCheckpoints({ root: this.state.path, ...options });
  }

  begin(turnId: string = mintId(), threadId = this.threadId): Promise<TurnCheckpoint> {
    const failed = (error: unknown) => this.failures.push(error);
    const roots = [this.workspace.path];
    return this.checkpoints.begin({ threadId, turnId, roots, ephemeral: false, onError: failed });
  }

  /** Runs a turn with a command that does `work`. Returns its id. */
  async command(work: () => unknown): Promise<string> {
    const turnId = mintId();
    const turn = await this.begin(turnId);
    await turn.saveWorkspace(NEVER);
    await work();
    await turn.end();
    return turnId;
  }

  /** Runs a turn that edits these files. Returns its id. */
  async edit(paths: readonly string[], work: () => unknown): Promise<string> {
    const turnId = mintId();
    const turn = await this.begin(turnId);
    turn.saveFiles(paths);
    await work();
    await turn.end();
    return turnId;
  }

  preview(...turnIds: string[]): Promise<FilesPreview> {
    return this.checkpoints.preview({ threadId: this.threadId, turnIds, cwd: this.workspace.path });
  }

  restore(turnIds: readonly string[], revertId: string = mintId()): Promise<FilesPreview> {
    const { threadId } = this;
    return this.checkpoints.restore({ threadId, turnIds, cwd: this.workspace.path }, revertId);
  }

  undo(revertId: string) {
    return this.checkpoints.undo(this.threadId, revertId, this.workspace.path);
  }

  /** Everything in the workspace by path: its mode with its content, or the target of a link. */
  contents(): Record<string, string> {
    return contentsOf(this.workspace.path, "");
  }

  /** The file names in a checkpoint folder, at any depth. */
  stored(folder: string): string[] {
    const path = this.state.join("checkpoints", folder);
    if (!existsSync(path)) return [];
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name);
  }
}

/** The options of a test. */
export type CheckpointFixtureOptions = Omit<FileCheckpointsOptions, "root">;

function contentsOf(folder: string, prefix: string): Record<string, string> {
  const contents: Record<string, string> = {};
  for (const name of readdirSync(folder, { encoding: "latin1" })) {
    const path = Buffer.from(`${Buffer.from(folder).toString("latin1")}/${name}`, "latin1");
    const stats = lstatSync(path);
    const mode = (stats.mode & 0o7777).toString(8);
    if (stats.isSymbolicLink()) contents[prefix + name] = `-> ${readlinkSync(path)}`;
    else if (stats.isDirectory()) {
      contents[`${prefix}${name}/`] = mode;
      Object.assign(contents, contentsOf(path.toString("utf8"), `${prefix}${name}/`));
    } else contents[prefix + name] = `${mode} ${readFileSync(path, "latin1")}`;
  }
  return contents;
}

/** The plan of failing calls. May be changed while the disk is in use. */
export interface FaultPlan {
  /** The error code of a failing call, or "crash": from then on every call throws. */
  fails?: ((call: string, path: string, count: number) => string | undefined) | undefined;
  /** Names of the calls that were made, in order. */
  readonly calls: string[];
}

/** The calls that change the disk. */
export const CHANGING_CALLS: ReadonlySet<string> = new Set([
  ...["write", "setMode", "makeLink", "makeFolder", "rename", "link", "unlink", "removeFolder"],
]);

/** Thrown by every call after a crash, when a killed process would do nothing more. */
export class Crash extends Error {}

/** The machine's disk with injected faults. */
export function faultyDisk(plan: FaultPlan): Disk {
  let hasCrashed = false;
  return new Proxy(NODE_DISK, {
    get(target, name) {
      const call: unknown = Reflect.get(target, name);
      if (typeof call !== "function" || typeof name !== "string") return call;
      return (...given: unknown[]) => {
        plan.calls.push(name);
        const code = hasCrashed ? "crash" : plan.fails?.(name, String(given[0]), plan.calls.length);
        if (code === "crash") {
          hasCrashed = true;
          throw new Crash("the process was killed");
        }
        // These tests kill processes; they do not cut the power.
        if (name === "sync" && code === undefined) return Promise.resolve();
        if (code !== undefined) throw Object.assign(new Error(`${code}: injected, ${name}`), { code });
        return Reflect.apply(call, target, given);
      };
    },
  });
}
