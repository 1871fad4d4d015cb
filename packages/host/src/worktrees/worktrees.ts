import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Sandbox } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import { isFolder, targetExists } from "../files/path-kinds.ts";
import { GitCommand, type GitLocation } from "../git/git-command.ts";
import { readHead } from "../git/repository.ts";
import { SYSTEM_PATH } from "../sandbox/mechanisms/launch.ts";
import { outerSearchPath } from "../sandbox/processes/search-path.ts";
import {
  baseRef,
  type LocatedAttempt,
  type Worktree,
  type WorktreeName,
  type WorktreeRequest,
} from "./attempt.ts";
import { fillLfsFiles, updateSubmodules, writeFiles } from "./checked-out-files.ts";
import { copyFolder } from "./folder-copy.ts";
import { copyIncluded, makeFoldersIn, type ProjectTrust } from "./included-files.ts";
import { RepositoryLock } from "./repository-lock.ts";
import { fetchMissing } from "./shared-remote.ts";
import { gitDirOf, lockEntry, readTree, reconnect, removeEntry } from "./worktree-entries.ts";
import {
  commitOf,
  createRef,
  repositoryAt,
  taskRef,
  type WorktreeRepository,
} from "./worktree-repository.ts";

/**
 * The worktrees of tasks, in a private folder. The user's checkout and branches are only read: worktrees are detached,
 * and everything that is made is kept under `refs/flint/`.
 */
export class Worktrees {
  readonly #root: string;
  #environment: NodeJS.ProcessEnv;
  readonly #sandbox: Pick<Sandbox, "launch">;
  readonly #trust: ProjectTrust;
  readonly #lock = new RepositoryLock();

  constructor(
    root: string,
    environment: NodeJS.ProcessEnv,
    sandbox: Pick<Sandbox, "launch">,
    trust: ProjectTrust,
  ) {
    this.#trust = trust;
    this.#root = root;
    this.#environment = { ...environment, ...UNFETCHED };
    this.#sandbox = sandbox;
  }

  /** The folder of an attempt: as it was left, or a new one. Never another folder than its own. */
  async prepare(request: WorktreeRequest): Promise<Worktree> {
    const { repository, base } = await this.locate(request);
    const home = this.#homeOf(request);
    const top = join(home, "tree");
    // Without its files it is made again from the last round.
    if (await isMade(home)) await this.#catchUp(repository, home, request);
    else await this.#create(repository, home, request.from ?? base);
    return { top, folder: join(top, repository.subfolder), base, repository };
  }

  /** The repository of an attempt with its commits, whether or not the attempt has a folder now. */
  async locate(request: WorktreeRequest): Promise<LocatedAttempt> {
    const repository = await this.#repositoryOf(request);
    const git = this.git(repository.top);
    const { task, from, shared } = request;
    if (shared !== undefined) await fetchMissing(git, task, shared, from === undefined ? [] : [from]);
    const base = await this.#baseOf(request, git);
    // An attempt that started before its base moved: its own record of the base counts.
    const isOwn = await createRef(git, baseRef(request), base);
    return { repository, base: isOwn ? base : await commitOf(git, baseRef(request)) };
  }

  /** An attempt that continues an earlier one has the same base, so that its result is everything since then. */
  async #baseOf(
    { task, attempt, from, shared, base = "HEAD" }: WorktreeRequest,
    git: GitCommand,
  ): Promise<string> {
    if (shared !== undefined) return commitOf(git, shared.commit);
    const earlier = baseRef({ task, attempt: attempt - 1 });
    if (from === undefined) return commitOf(git, base);
    const known = await git.attempt(["rev-parse", "--verify", "--quiet", earlier]);
    return commitOf(git, known.exitCode === 0 ? earlier : from);
  }

  /** The repository that a folder is in. */
  async repository(folder: string): Promise<WorktreeRepository> {
    const found = await repositoryAt(folder, this.#environment);
    if (found !== undefined) return this.#known(found, folder);
    throw new FlintError("invalidParams", `${folder} is in no git repository, so it has no remote.`);
  }

  async #repositoryOf({ cwd, task, shared }: WorktreeRequest): Promise<WorktreeRepository> {
    if (!(await targetExists(cwd))) throw new FlintError("invalidParams", `${cwd} does not exist.`);
    const found = await repositoryAt(cwd, this.#environment);
    if (shared !== undefined && found === undefined)
      throw new FlintError("invalidParams", `${cwd} is not a clone of ${shared.url}.`);
    // The checkout of the clone may not have the folder.
    if (found === undefined) {
      this.#leaveOut([cwd]);
      return copyFolder(cwd, join(this.#root, `${plainId(task)}-source`), (folder) => this.git(folder));
    }
    const repository = this.#known(found, cwd);
    return shared === undefined ? repository : { ...repository, subfolder: shared.folder };
  }

  #known(repository: WorktreeRepository, cwd: string): WorktreeRepository {
    this.#leaveOut([cwd, repository.top]);
    return repository;
  }

  /** No program of this project is run from now on, not even by git in a worktree, which is elsewhere. */
  #leaveOut(project: readonly string[]): void {
    const { PATH = SYSTEM_PATH } = this.#environment;
    this.#environment = { ...this.#environment, PATH: outerSearchPath(PATH, project) };
  }

  /**
   * A clean worktree at this commit, such as for a review or a merge, and where the task works in it. What it had before is
   * gone.
   */
  async checkOut(
    name: WorktreeName,
    purpose: "review" | "merge",
    repository: WorktreeRepository,
    commit: string,
  ): Promise<string> {
    const home = join(this.#root, `${folderName(name)}-${purpose}`);
    const gitDir = (await isMade(home)) ? await gitDirOf(repository, join(home, "tree")) : undefined;
    if (gitDir !== undefined) await this.#reset(repository, { home, gitDir, commit });
    else await this.#create(repository, home, commit);
    return join(home, "tree", repository.subfolder);
  }

  /** Makes a worktree that is there what a new one would be. */
  async #reset(
    repository: WorktreeRepository,
    { home, gitDir, commit }: { readonly home: string; readonly gitDir: string; readonly commit: string },
  ): Promise<void> {
    const top = join(home, "tree");
    await reconnect(repository, top);
    // Cut off in the middle, it is made again.
    await rm(join(home, "complete"));
    await this.#moveTo({ worktree: top, gitDir }, commit);
    // Attributes of files that are still there would count for those that are written.
    for (const entry of (await readdir(top)).filter((name) => name !== ".git"))
      await rm(join(top, entry), { recursive: true, force: true });
    await this.#fill(repository, home);
  }

  /** A folder as it was left, unless the attempt went on elsewhere since then: it would take back what was done there. */
  async #catchUp(
    repository: WorktreeRepository,
    home: string,
    { task, from }: WorktreeRequest,
  ): Promise<void> {
    const top = join(home, "tree");
    await reconnect(repository, top);
    const found = from === undefined ? undefined : await this.#entryOf({ top, repository });
    const head = found === undefined ? undefined : await this.#headOf(found.git, found.gitDir);
    if (from === undefined || found === undefined || head === undefined || head === from) return;
    const follows = await found.git.attempt(["merge-base", "--is-ancestor", from, head]);
    if (follows.exitCode === 0) return;
    // A user may have moved HEAD, who knows what is in the folder; otherwise all of it is in a commit of the task.
    const own = await found.git.run(["for-each-ref", `--points-at=${head}`, `${taskRef(task)}/`]);
    if (own === "") return;
    await rm(join(home, "scratch"), { recursive: true, force: true });
    await this.#reset(repository, { home, gitDir: found.gitDir, commit: from });
  }

  /**
   * Makes this commit the HEAD of the folder's present content: an agent sees it as the last one, with
   * nothing to commit.
   */
  async moveHead(worktree: Worktree, commit: string): Promise<void> {
    const found = await this.#entryOf(worktree);
    if (found !== undefined) await this.#moveTo({ worktree: worktree.top, gitDir: found.gitDir }, commit);
  }

  /** Moves HEAD and the index, which have locks of their own. */
  async #moveTo(place: GitLocation, commit: string): Promise<void> {
    const git = this.git(place.worktree);
    const head = git.in(place).run(["update-ref", "--no-deref", "HEAD", commit]);
    await Promise.all([head, readTree(git, place, commit)]);
  }

  /** The commit that the folder is at. */
  async head(worktree: Worktree): Promise<string | undefined> {
    const found = await this.#entryOf(worktree);
    return found === undefined ? undefined : this.#headOf(found.git, found.gitDir);
  }

  async #headOf(git: GitCommand, gitDir: string): Promise<string | undefined> {
    // Expected: HEAD names nothing.
    const head = await readHead(git, gitDir).catch(() => undefined);
    if (head?.kind === "detached") return head.commit;
    const named = await git.attempt(["rev-parse", "--verify", "--quiet", "HEAD"]);
    return named.exitCode === 0 ? named.stdout.trim() : undefined;
  }

  /** Git in the folder of an attempt, by what the repository says of it: the file in the folder is the agent's to change. */
  async #entryOf({
    top,
    repository,
  }: Pick<Worktree, "top" | "repository">): Promise<{ git: GitCommand; gitDir: string } | undefined> {
    const gitDir = await gitDirOf(repository, top);
    return gitDir === undefined ? undefined : { gitDir, git: this.git(top).in({ worktree: top, gitDir }) };
  }

  /** Removes the folders of an attempt, whose repository may be gone. What was committed stays under its refs. */
  async remove(name: WorktreeName, repository: WorktreeRepository | undefined): Promise<void> {
    for (const folder of this.foldersOf(name)) await this.#delete(repository, folder);
  }

  /** Removes the copy that a task works on whose folder is in no repository, with all its commits. */
  async removeCopy(task: string): Promise<void> {
    await rm(join(this.#root, `${plainId(task)}-source`), { recursive: true, force: true });
  }

  /** The folders of an attempt: where it works, where it is reviewed and where it is merged. */
  foldersOf(name: WorktreeName): string[] {
    return ["", "-review", "-merge"].map((suffix) => join(this.#root, `${folderName(name)}${suffix}`));
  }

  /** The top of an attempt's worktree, if it was made and is still there. */
  async topOf(name: WorktreeName): Promise<string | undefined> {
    return (await isMade(this.#homeOf(name))) ? join(this.#homeOf(name), "tree") : undefined;
  }

  /** The folder that all of them are in. */
  get root(): string {
    return this.#root;
  }

  /** The folders there are, by name. */
  async names(): Promise<string[]> {
    // Expected: no task has been run yet.
    return readdir(this.#root).catch(() => []);
  }

  /** Returns the folder of an attempt's private index and objects, which its agents cannot write. */
  async scratch(name: WorktreeName): Promise<string> {
    return scratchIn(this.#homeOf(name));
  }

  /** Returns the path of the result of a task without a repository. */
  patchFile(task: string): string {
    return join(this.#root, `${plainId(task)}.patch`);
  }

  /** The ignored files that an attempt got from the user's checkout. */
  async included(name: WorktreeName): Promise<string[]> {
    return readLines(join(this.#homeOf(name), "complete"));
  }

  /** Returns notices for the user about how the folder of an attempt was made. */
  async notices(name: WorktreeName): Promise<string[]> {
    return readLines(join(this.#homeOf(name), NOTICES));
  }

  /** Reports whether the set-up command has run in the folder of an attempt as it is now. */
  async isSetUp(name: WorktreeName): Promise<boolean> {
    return targetExists(join(this.#homeOf(name), SET_UP));
  }

  /** Remembers that the set-up command has run in the folder of an attempt, until it is made again. */
  async markSetUp(name: WorktreeName): Promise<void> {
    await writeFile(join(this.#homeOf(name), SET_UP), "");
  }

  /**
   * Returns the git variables for the sandbox in the worktrees of a repository, so that git behaves the same
   * for all of its files.
   */
  async variables({ top }: WorktreeRepository): Promise<Readonly<Record<string, string>>> {
    return { ...UNFETCHED, ...(await this.#trust.gitVariables(top)) };
  }

  /** Git in a folder of this repository, hardened, without hooks. */
  git(folder: string): GitCommand {
    return new GitCommand(folder, this.#environment);
  }

  #homeOf(name: WorktreeName): string {
    return join(this.#root, folderName(name));
  }

  async #create(repository: WorktreeRepository, home: string, commit: string): Promise<void> {
    const top = join(home, "tree");
    await this.#delete(repository, home);
    await mkdir(home, { recursive: true, mode: 0o700 });
    const git = this.git(repository.top);
    const add = ["worktree", "add", "--quiet", "--detach", "--no-checkout", top, commit];
    const gitDir = await this.#lock.alone(repository.commonDir, async () => {
      await git.run(add);
      const made = await gitDirOf(repository, top);
      if (made === undefined) throw notAWorktree(repository, top);
      await lockEntry(made);
      return made;
    });
    await readTree(this.git(home), { worktree: top, gitDir }, commit);
    await this.#fill(repository, home);
  }

  /** Writes the files of the index, and those that come from the user's checkout. */
  async #fill(repository: WorktreeRepository, home: string): Promise<void> {
    const top = join(home, "tree");
    const gitDir = await gitDirOf(repository, top);
    if (gitDir === undefined || !(await isFolder(top))) throw notAWorktree(repository, top);
    await rm(join(home, SET_UP), { force: true });
    const files = { top, repository, environment: await this.variables(repository) };
    const git = this.git(top).in({ worktree: top, gitDir });
    await writeFiles(this.#sandbox, files);
    const scratch = () => scratchIn(home);
    const lfs = await fillLfsFiles(this.#sandbox, { ...files, git: git.withoutFilters(), scratch });
    await updateSubmodules(git, repository, top);
    const included = await copyIncluded(this.git(repository.top), repository, top, this.#trust);
    const notices = [...lfs, ...included.notices];
    if (notices.length > 0) await writeFile(join(home, NOTICES), notices.join("\n"));
    else await rm(join(home, NOTICES), { force: true });
    // The commit may not have the folder that the task works in; a link in its place could lead anywhere.
    if (!(await makeFoldersIn(top, repository.subfolder)))
      throw new FlintError(
        "invalidRequest",
        `${repository.subfolder} is not a folder in the work of the task.`,
      );
    // Without this file the folder is half made and is made again.
    await writeFile(join(home, "complete"), included.paths.join("\n"));
  }

  /** Removes a worktree in whatever state it is, also one that was never finished. */
  async #delete(repository: WorktreeRepository | undefined, home: string): Promise<void> {
    const top = join(home, "tree");
    await rm(join(home, "complete"), { force: true });
    if (repository === undefined || !(await targetExists(repository.top)))
      return rm(home, { recursive: true, force: true });
    await this.#lock.alone(repository.commonDir, async () => {
      await rm(home, { recursive: true, force: true });
      await removeEntry(repository, top);
    });
  }
}

function notAWorktree({ top }: WorktreeRepository, folder: string): FlintError {
  return new FlintError("internalError", `${folder} is not a worktree of ${top}.`);
}

/** The file beside a folder with what the user should know about it, a line each. */
const NOTICES = "notices";

/** Marks a folder in which the set-up command of its task has run. */
const SET_UP = "set-up";

/** Git LFS fetches nothing: files whose content the repository has get it otherwise. */
const UNFETCHED = { GIT_LFS_SKIP_SMUDGE: "1" };

function folderName({ task, attempt }: WorktreeName): string {
  return `${plainId(task)}-${attempt}`;
}

/** The id of a task, which becomes a part of paths; in the database of a fleet it may be anything. */
function plainId(task: string): string {
  if (/^[A-Za-z0-9_-]{1,100}$/.test(task)) return task;
  throw new FlintError("invalidParams", `${JSON.stringify(task)} cannot be the id of a task.`);
}

async function scratchIn(home: string): Promise<string> {
  const scratch = join(home, "scratch");
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  if (await isFolder(scratch)) return scratch;
  throw new FlintError("internalError", `${scratch} is a link, so it is not used. Delete it.`);
}

/** The lines of a file of Flint's own; none if it was never written. */
async function readLines(path: string): Promise<string[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.split("\n").filter((line) => line !== "");
}

/** Reports whether a worktree was completed and still has its files. */
async function isMade(home: string): Promise<boolean> {
  return (await targetExists(join(home, "complete"))) && (await isFolder(join(home, "tree")));
}
