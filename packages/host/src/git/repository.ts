import { lstat, open, realpath } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { isPathIn } from "@flint/protocol";
import { readRegularText } from "../files/regular-file.ts";
import type { GitCommand } from "./git-command.ts";
import { type RefRow, refsInFiles } from "./ref-files.ts";

/** An object id: SHA-1 or SHA-256. */
export const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** The refs that agents may change in the user's repository, beside the stash. */
export const REF_NAMESPACES = ["refs/heads", "refs/tags", "refs/remotes"] as const;

/** The folders of a repository. All paths are free of links. */
export interface Repository {
  /** The folder with the files. */
  readonly worktree: string;
  /** The git directory of this worktree. */
  readonly gitDir: string;
  /** The git directory that all its worktrees share. */
  readonly commonDir: string;
  /** True if `.git` in the worktree is a file that points elsewhere, as in a linked worktree or a submodule. */
  readonly isLinked: boolean;
}

/** The state of a repository at one moment. */
export interface RepositoryState {
  /** The refs that agents may change, by name. */
  readonly refs: ReadonlyMap<string, string>;
  /** Refs that are names for other refs. */
  readonly symbolicRefs: ReadonlyMap<string, string>;
  readonly head: Head;
  /** The commits of the stash. */
  readonly stash: readonly string[];
  /** The kept refs of an agent's declined commits, if they were requested. */
  readonly kept?: ReadonlyMap<string, string>;
  /** Changes whenever the index does; undefined without an index. */
  readonly indexVersion: string | undefined;
}

/** The target of HEAD: a branch, which may not have a commit yet, or a commit. */
export type Head =
  | { readonly kind: "branch"; readonly ref: string }
  | { readonly kind: "detached"; readonly commit: string };

/** Reports whether two heads have the same target. */
export function isSameHead(left: Head, right: Head): boolean {
  return left.kind === "branch"
    ? right.kind === "branch" && left.ref === right.ref
    : right.kind === "detached" && left.commit === right.commit;
}

/** Finds the repository whose worktree is exactly this folder; undefined if there is none. */
export async function findRepository(git: GitCommand, folder: string): Promise<Repository | undefined> {
  const worktree = await realpath(folder).catch(() => undefined);
  if (worktree === undefined) return undefined;
  const dotGit = await lstat(join(worktree, ".git")).catch(() => undefined);
  // A link could lead anywhere by the time it is used.
  if (dotGit === undefined || !(dotGit.isDirectory() || dotGit.isFile())) return undefined;
  if (await isPlainRepository(worktree)) {
    const gitDir = join(worktree, ".git");
    return { worktree, gitDir, commonDir: gitDir, isLinked: false };
  }
  const asked = ["rev-parse", "--absolute-git-dir", "--git-common-dir", "--show-toplevel"];
  const { exitCode, stdout } = await git.attempt(asked);
  const [gitDir = "", common = "", top = ""] = stdout.split("\n");
  if (exitCode !== 0 || gitDir === "" || common === "") return undefined;
  // A .git that is not a repository makes git look in the folders above.
  if ((await realpath(top).catch(() => undefined)) !== worktree) return undefined;
  const commonDir = await realpath(resolve(worktree, common));
  return { worktree, gitDir: await realpath(gitDir), commonDir, isLinked: dotGit.isFile() };
}

/** Settings with which a repository is not what its files look like; git has to be asked then. */
const UNUSUAL_SETTINGS = /worktree|include|extensions|bare\s*=(?!\s*false\b)/i;

/**
 * Reports whether git would certainly find the repository of a folder in its `.git`: asking git costs a
 * process.
 */
export async function isPlainRepository(worktree: string): Promise<boolean> {
  const [top, dotGit, objects, refs, shared] = await Promise.all(
    ["", ".git", ".git/objects", ".git/refs", ".git/commondir"].map((name) =>
      lstat(join(worktree, name)).catch(() => undefined),
    ),
  );
  const folders = [top, dotGit, objects, refs];
  if (!folders.every((found) => found?.isDirectory() === true) || shared !== undefined) return false;
  // Git does not use another user's repository unless it is configured to.
  if (![top, dotGit].every((found) => found?.uid === process.geteuid?.())) return false;
  const [head, config] = await Promise.all(
    ["HEAD", "config"].map((name) => readRegularText(join(worktree, ".git", name), MAX_CONFIG)),
  );
  if (typeof head !== "string" || typeof config !== "string") return false;
  const isHead = head.startsWith("ref: refs/") || OBJECT_ID.test(head.trim());
  return isHead && !UNUSUAL_SETTINGS.test(config);
}

const MAX_CONFIG = 1024 * 1024;

/** Maximum number of submodules of a worktree that get a git directory of their own. */
const MAX_SUBMODULES = 32;

/** Finds the submodules of a repository that are checked out, and theirs; the innermost come first. */
export async function findSubmodules(
  { worktree, gitDir }: Repository,
  gitIn: (folder: string) => GitCommand,
  left = MAX_SUBMODULES,
): Promise<Repository[]> {
  const modules = join(gitDir, "modules");
  if ((await lstat(modules).catch(() => undefined))?.isDirectory() !== true) return [];
  const listing = ["config", "--file", join(worktree, ".gitmodules"), "-z", "--get-regexp", "\\.path$"];
  const { stdout } = await gitIn(worktree).attempt(listing);
  const found: Repository[] = [];
  for (const entry of stdout.split("\0")) {
    const path = join(worktree, entry.slice(entry.indexOf("\n") + 1));
    if (entry === "" || found.length >= left || !isPathIn(path, worktree) || path === worktree) continue;
    const submodule = await findRepository(gitIn(path), path).catch(() => undefined);
    if (submodule?.worktree !== path || !submodule.isLinked || !isPathIn(submodule.gitDir, modules)) continue;
    found.push(...(await findSubmodules(submodule, gitIn, left - found.length - 1)), submodule);
  }
  return found;
}

/** Maximum number of object folders that a repository may borrow from. */
const MAX_ALTERNATES = 10;

/** The folders that a repository borrows objects from, directly or by others. */
export async function alternatesOf(objects: string): Promise<string[]> {
  const found = new Set<string>();
  const left = [objects];
  for (let folder = left.shift(); folder !== undefined; folder = left.shift()) {
    const listed = await readRegularText(join(folder, "info", "alternates"), 65_536);
    const lines = typeof listed === "string" ? listed.split("\n") : [];
    for (const line of lines.filter((row) => row !== "" && !row.startsWith("#"))) {
      const path = await realpath(isAbsolute(line) ? line : resolve(folder, line)).catch(() => undefined);
      if (path === undefined || found.has(path) || found.size >= MAX_ALTERNATES) continue;
      found.add(path);
      left.push(path);
    }
  }
  return [...found];
}

/** Reads the state of the user's repository; with what is kept below a prefix, if one is given. */
export async function readState(
  git: GitCommand,
  repository: Repository,
  prefix?: string,
): Promise<RepositoryState> {
  const { gitDir } = repository;
  const requested = [...REF_NAMESPACES, "refs/stash", ...(prefix === undefined ? [] : [prefix])];
  const refs = new Map<string, string>();
  const kept = new Map<string, string>();
  const symbolicRefs = new Map<string, string>();
  for (const { name, object, target } of await readRefs(git, repository, requested)) {
    if (target !== undefined) symbolicRefs.set(name, target);
    else if (prefix !== undefined && name.startsWith(`${prefix}/`)) kept.set(name, object);
    else refs.set(name, object);
  }
  const stash = refs.delete("refs/stash") ? await readStash(git) : [];
  const state = { refs, symbolicRefs, stash, head: await readHead(git, gitDir) };
  return { ...state, ...(prefix === undefined ? {} : { kept }), indexVersion: await indexVersion(gitDir) };
}

/** The refs with these names or below them. */
async function readRefs(
  git: GitCommand,
  { worktree, gitDir, commonDir }: Repository,
  requested: readonly string[],
): Promise<readonly RefRow[]> {
  const isPlain = gitDir === join(worktree, ".git") && (await isPlainRepository(worktree));
  const inFiles = isPlain ? await refsInFiles(commonDir, requested) : undefined;
  if (inFiles !== undefined) return inFiles;
  const listed = await git.run(["for-each-ref", "--format=%(objectname) %(refname) %(symref)", ...requested]);
  const rows = listed.split("\n").filter((row) => row !== "");
  return rows.map((row) => {
    const [object = "", name = "", target = ""] = row.split(" ");
    return { name, object, ...(target === "" ? {} : { target }) };
  });
}

/** The commit that HEAD names in a state; undefined if it has none yet. */
export function headCommit({ head, refs }: Pick<RepositoryState, "head" | "refs">): string | undefined {
  return head.kind === "detached" ? head.commit : refs.get(head.ref);
}

/** The commits of the stash, the newest first. */
export async function readStash(git: GitCommand): Promise<string[]> {
  const { stdout } = await git.attempt(["stash", "list", "--format=%H"]);
  return stdout.split("\n").filter((id) => OBJECT_ID.test(id));
}

/** Reads what HEAD names. Most repositories have it in a file; asking git costs a process. */
export async function readHead(git: GitCommand, gitDir: string): Promise<Head> {
  const line = await readRegularText(join(gitDir, "HEAD"), 4096);
  const text = typeof line === "string" ? line.trim() : "";
  if (OBJECT_ID.test(text)) return { kind: "detached", commit: text };
  if (/^ref: refs\/heads\/[^.]/.test(text)) return { kind: "branch", ref: text.slice("ref: ".length) };
  const symbolic = await git.attempt(["symbolic-ref", "-q", "HEAD"]);
  if (symbolic.exitCode === 0) return { kind: "branch", ref: symbolic.stdout.trim() };
  return { kind: "detached", commit: (await git.run(["rev-parse", "--verify", "HEAD^{commit}"])).trim() };
}

/** An index ends with a checksum of its content, unless `index.skipHash` has left it empty. */
export async function indexVersion(gitDir: string): Promise<string | undefined> {
  // Expected: there is none.
  const index = await open(join(gitDir, "index")).catch(() => undefined);
  if (index === undefined) return undefined;
  try {
    const { size, mtimeMs } = await index.stat();
    const checksum = Buffer.alloc(Math.min(size, 20));
    await index.read(checksum, 0, checksum.length, size - checksum.length);
    return checksum.every((byte) => byte === 0) ? String(mtimeMs) : checksum.toString("hex");
  } finally {
    await index.close();
  }
}

/** Returns the unfinished operation of the user that keeps a repository from being changed from outside. */
export async function unfinishedOperation({ gitDir }: Repository): Promise<string | undefined> {
  for (const [file, operation] of Object.entries(OPERATION_FILES)) {
    if ((await lstat(join(gitDir, file)).catch(() => undefined)) !== undefined) return operation;
  }
  return undefined;
}

/** The files by which git remembers an operation that is not finished. */
export const OPERATION_FILES: Readonly<Record<string, string>> = {
  MERGE_HEAD: "merge",
  CHERRY_PICK_HEAD: "cherry-pick",
  REVERT_HEAD: "revert",
  "rebase-merge": "rebase",
  "rebase-apply": "rebase",
  BISECT_LOG: "bisect",
};
