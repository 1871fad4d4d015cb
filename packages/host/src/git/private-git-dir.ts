import { lstat, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { plainBytes } from "../files/plain-file.ts";
import type { Mount } from "../sandbox/mechanisms/confinement.ts";
import type { GitCommand } from "./git-command.ts";
import { type Repository, type RepositoryState, readState } from "./repository.ts";

/** Where the objects of the user's repository are seen in the sandbox. */
const OBJECTS = "/run/flint/objects";

/** Where the private git directory is seen if `.git` in the worktree is a file. */
const GIT_DIR = "/run/flint/git";

/** The largest file that is copied; an index of a million files has about 100 MB. */
const MAX_BYTES = 512 * 1024 * 1024;

/** A git directory of a thread's own, and what the repository looked like when it was made. */
export interface PrivateGitDir {
  readonly repository: Repository;
  readonly base: RepositoryState;
  /** Where it lies, outside of the sandbox. */
  readonly folder: string;
  /** In the order they apply. */
  readonly mounts: readonly Mount[];
}

/**
 * Makes a git directory that replaces `.git` in the sandbox. Agents add, commit, switch and rebase in it as they like; it
 * reads the objects of the user's repository and writes its own. Nothing that is written there is ever used outside:
 * commits return as from a remote that is not trusted. `folder` must not exist.
 */
export async function makePrivateGitDir(
  git: GitCommand,
  repository: Repository,
  folder: string,
): Promise<PrivateGitDir> {
  const { gitDir, commonDir } = repository;
  const gitFolder = join(folder, "git");
  await mkdir(join(gitFolder, "objects", "info"), { recursive: true, mode: 0o700 });
  await mkdir(join(gitFolder, "refs", "heads"), { recursive: true });
  const base = await readState(git, repository);
  await writeRefs(gitFolder, base);
  await copyFiles(gitDir, gitFolder, ["HEAD", "index", "shallow", "info/sparse-checkout"]);
  await copyFiles(commonDir, gitFolder, [
    "config",
    "shallow",
    "info/exclude",
    "info/attributes",
    "logs/refs/stash",
  ]);
  // With the worktree of another place git would look there.
  await git.attempt(["config", "--file", join(gitFolder, "config"), "--unset-all", "core.worktree"]);
  await writeFile(join(gitFolder, "objects", "info", "alternates"), `${OBJECTS}\n`);
  return { repository, base, folder, mounts: await mountsOf(repository, folder) };
}

async function mountsOf(repository: Repository, folder: string): Promise<Mount[]> {
  const { worktree, commonDir, isLinked } = repository;
  const dotGit = join(worktree, ".git");
  const target = isLinked ? GIT_DIR : dotGit;
  const mounts: Mount[] = [
    { source: join(commonDir, "objects"), target: OBJECTS, writable: false },
    { source: join(folder, "git"), target, writable: true },
  ];
  if (isLinked) {
    const pointer = join(folder, "pointer");
    await writeFile(pointer, `gitdir: ${GIT_DIR}\n`);
    mounts.push({ source: pointer, target: dotGit, writable: false });
  }
  for (const shared of ["hooks", "modules"]) {
    const source = join(commonDir, shared);
    if (await isFolder(source)) {
      // A mount needs something to be put over.
      await mkdir(join(folder, "git", shared), { recursive: true });
      mounts.push({ source, target: join(target, shared), writable: false });
    }
  }
  return mounts;
}

/** All refs in one file, whatever their number. */
async function writeRefs(gitFolder: string, { refs, symbolicRefs }: RepositoryState): Promise<void> {
  const rows = [...refs].map(([name, object]) => `${object} ${name}`).sort(byName);
  await writeFile(join(gitFolder, "packed-refs"), ["# pack-refs with: sorted ", ...rows, ""].join("\n"));
  for (const [name, target] of symbolicRefs) {
    const file = join(gitFolder, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `ref: ${target}\n`);
  }
}

/** Git expects the rows in the byte order of their names. */
function byName(left: string, right: string): number {
  const [a, b] = [left, right].map((row) => Buffer.from(row.slice(row.indexOf(" "))));
  return a === undefined || b === undefined ? 0 : Buffer.compare(a, b);
}

async function copyFiles(from: string, to: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const content = await plainBytes(join(from, name), MAX_BYTES);
    if (content === undefined) continue;
    await mkdir(dirname(join(to, name)), { recursive: true });
    await writeFile(join(to, name), content);
  }
}

async function isFolder(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
