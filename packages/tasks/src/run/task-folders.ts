import { freeSpace, sizeOf } from "@flint/host/files";
import type { TurnCommits, Worktrees } from "@flint/host/worktrees";
import type { TaskState } from "@flint/protocol";
import type { GitWorkspaces } from "./git-workspaces.ts";

/** The disk space that tasks take on this machine. */
export interface TaskFolders {
  /** The ids of tasks that have folders here. */
  occupied(): Promise<ReadonlySet<string>>;
  /** Returns the disk space of a task's folders. */
  bytes(state: TaskState): Promise<number>;
  /** Reports whether everything in them is in a commit of the task. */
  isCommitted(state: TaskState): Promise<boolean>;
  /** Removes them; what was committed stays. */
  clear(state: TaskState): Promise<void>;
  /** Returns the folder that holds them, and the space that can still be written there. */
  free(): Promise<{ readonly folder: string; readonly bytes: number }>;
}

/** The name of a folder of an attempt: the task, the attempt, and what it is for. */
const FOLDER = /^(?<task>.+)-\d+(?:-review|-merge)?$/;

/** The worktrees of tasks as what takes disk space. */
export class GitFolders implements TaskFolders {
  readonly #worktrees: Worktrees;
  readonly #commits: Pick<TurnCommits, "isCommitted">;
  readonly #workspaces: Pick<GitWorkspaces, "locate">;

  constructor(
    worktrees: Worktrees,
    commits: Pick<TurnCommits, "isCommitted">,
    workspaces: Pick<GitWorkspaces, "locate">,
  ) {
    this.#worktrees = worktrees;
    this.#commits = commits;
    this.#workspaces = workspaces;
  }

  async occupied(): Promise<ReadonlySet<string>> {
    const names = await this.#worktrees.names();
    return new Set(names.flatMap((name) => FOLDER.exec(name)?.groups?.task ?? []));
  }

  async bytes(state: TaskState): Promise<number> {
    let bytes = 0;
    for (const name of attemptsOf(state))
      for (const folder of this.#worktrees.foldersOf(name)) bytes += await sizeOf(folder);
    return bytes;
  }

  async isCommitted(state: TaskState): Promise<boolean> {
    // Expected: the repository is gone, or does not know the folder. Then nothing is known about its work, and it stays.
    try {
      const located = await this.#workspaces.locate(state);
      for (const name of attemptsOf(state))
        if (!(await this.#commits.isCommitted(name, located))) return false;
      return true;
    } catch {
      return false;
    }
  }

  async clear(state: TaskState): Promise<void> {
    // Expected: the repository is gone, and with it what would have to be unlocked there.
    const located = await this.#workspaces.locate(state).catch(() => undefined);
    for (const name of attemptsOf(state)) await this.#worktrees.remove(name, located?.repository);
  }

  async free(): Promise<{ readonly folder: string; readonly bytes: number }> {
    const { root: folder } = this.#worktrees;
    return { folder, bytes: await freeSpace(folder) };
  }
}

function attemptsOf({ id: task, attempt }: TaskState) {
  return Array.from({ length: attempt }, (_, index) => ({ task, attempt: index + 1 }));
}
