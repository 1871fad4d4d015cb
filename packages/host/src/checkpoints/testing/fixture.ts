import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { FilesPreview, TurnCheckpoint } from "@flint/core/ports";
import { mintId } from "@flint/protocol";
import { type Disk, NODE_DISK } from "../disk/disk.ts";
import { FileCheckpoints, type FileCheckpointsOptions } from "../file-checkpoints.ts";

/** A folder that is gone with its test. */
interface TestFolder {
  readonly path: string;
  join(...parts: readonly string[]): string;
}

const NEVER = new AbortController().signal;

/** A workspace and checkpoints of it, gone with the test. */
export class Workbench {
  readonly workspace: TestFolder;
  readonly state: TestFolder;
  readonly threadId = "thread";
  readonly failures: unknown[] = [];
  checkpoints: FileCheckpoints;

  private constructor(workspace: TestFolder, state: TestFolder, options: WorkbenchOptions) {
    this.workspace = workspace;
    this.state = state;
    this.checkpoints = new FileCheckpoints({ root: state.path, ...options });
  }

  static async make(folder: () => Promise<TestFolder>, options: WorkbenchOptions = {}): Promise<Workbench> {
    return new Workbench(await folder(), await folder(), options);
  }

  /** Another process on the same folders. */
  restart(options: WorkbenchOptions = {}): void {
    this.checkpoints = new FileCheckpoints({ root: this.state.path, ...options });
  }

  begin(turnId: string = mintId(), threadId = this.threadId): Promise<TurnCheckpoint> {
    const failed = (error: unknown) => this.failures.push(error);
    const roots = [this.workspace.path];
    return this.checkpoints.begin({ threadId, turnId, roots, ephemeral: false, onError: failed });
  }

  /** A turn that runs a command which does this. Gives its id. */
  async command(work: () => unknown): Promise<string> {
    const turnId = mintId();
    const turn = await this.begin(turnId);
    await turn.saveWorkspace(NEVER);
    await work();
    await turn.end();
    return turnId;
  }

  /** A turn that edits these files. Gives its id. */
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

  /** Everything in the workspace: content or target, and mode, by path. */
  picture(): Record<string, string> {
    return pictureOf(this.workspace.path, "");
  }

  /** The names in a folder of the checkpoints, at any depth. */
  stored(folder: string): string[] {
    const path = this.state.join("checkpoints", folder);
    if (!existsSync(path)) return [];
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name);
  }
}

/** How checkpoints of a test differ. */
export type WorkbenchOptions = Omit<FileCheckpointsOptions, "root">;

function pictureOf(folder: string, prefix: string): Record<string, string> {
  const picture: Record<string, string> = {};
  for (const name of readdirSync(folder, { encoding: "latin1" })) {
    const path = Buffer.from(`${Buffer.from(folder).toString("latin1")}/${name}`, "latin1");
    const stats = lstatSync(path);
    const mode = (stats.mode & 0o7777).toString(8);
    if (stats.isSymbolicLink()) picture[prefix + name] = `-> ${readlinkSync(path)}`;
    else if (stats.isDirectory()) {
      picture[`${prefix}${name}/`] = mode;
      Object.assign(picture, pictureOf(path.toString("utf8"), `${prefix}${name}/`));
    } else picture[prefix + name] = `${mode} ${readFileSync(path, "latin1")}`;
  }
  return picture;
}

/** What goes wrong with a disk. It may be changed while it is in use. */
export interface DiskPlan {
  /** The error code with which a call fails, or "crash": from then on nothing happens any more. */
  fails?: ((call: string, path: string, count: number) => string | undefined) | undefined;
  /** Names of the calls that were made, in order. */
  readonly calls: string[];
}

/** The calls after which a disk is not what it was before. */
export const CHANGING_CALLS: ReadonlySet<string> = new Set([
  ...["write", "setMode", "makeLink", "makeFolder", "rename", "unlink", "removeFolder"],
]);

/** A process that was killed does nothing more; a test that meets this knows that it would not have gone on. */
export class Crash extends Error {}

/** The disk of the machine, with faults. */
export function faultyDisk(plan: DiskPlan): Disk {
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
        // These tests end processes, not the power supply.
        if (name === "sync" && code === undefined) return Promise.resolve();
        if (code !== undefined) throw Object.assign(new Error(`${code}: injected, ${name}`), { code });
        return Reflect.apply(call, target, given);
      };
    },
  });
}
