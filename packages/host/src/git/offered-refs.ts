import { relative } from "node:path";
import type { OfferedRef } from "@flint/core/ports";
import { shellQuote } from "@flint/core/text";
import { isPathIn } from "@flint/protocol";
import { ALL_PROTECTED_NAMES, isProtectedName } from "../sandbox/paths/protected-names.ts";
import { gitSteering } from "../steering/index.ts";
import type { GitCommand } from "./git-command.ts";
import type { Incoming, RefChange } from "./incoming.ts";
import { type Head, headCommit, OBJECT_ID, type RepositoryState } from "./repository.ts";

const MAX_COMMITS = 50;
const MAX_DIFF = 200_000;

/** The commits that the user has, as options of `git rev-list`. */
const KNOWN = ["--branches", "--tags", "--remotes"];

/** The number of refs that are shown with their commits; each costs a few calls of git. */
const MAX_DETAILED = 40;

/** Maximum number of files named by settings that are looked for. */
const MAX_NAMED = 200;

/**
 * Lists the files that the commits from its input change. Other than a comparison of two trees, that includes what a later
 * commit undoes.
 */
const CHANGED_PATHS = [
  ...["-c", "log.showRoot=true", "log", "--stdin", "--full-history", "--format=", "--name-only", "-z"],
  ...["--no-renames", "--ignore-submodules=none"],
];

/**
 * Of merges, what is as in none of their parents, and what git would have merged differently: a merge can also take back
 * what one side has changed, by the content of the other. Git cannot merge more than two again.
 */
const OF_MERGES = [["-c"], ["--remerge-diff", "--max-parents=2"], ["-m", "--min-parents=3"]];

/** An entry of the stash has the form of a merge, and brings what is not as in its first parent. */
const OF_STASH = [["-c"], ["-m", "--first-parent"]];

/** Describes what was fetched from a sandbox, for the user to decide about. */
export class OfferedRefs {
  readonly #git: GitCommand;
  readonly #worktree: string;

  constructor(git: GitCommand, worktree: string) {
    this.#git = git;
    this.#worktree = worktree;
  }

  /** The changes with the commits that they bring, most important first. */
  async list({ refs, head, stash }: Incoming): Promise<OfferedRef[]> {
    const offered: OfferedRef[] = [];
    for (const [at, change] of byImportance(refs).entries()) {
      const isDetailed = at < MAX_DETAILED && !isRemote(change.name);
      offered.push(isDetailed ? await this.#describe(change) : { ...plain(change), commits: [], total: 0 });
    }
    if (head?.kind === "branch") {
      offered.push({ name: head.ref, commits: [], total: 0, change: "switched" });
    } else if (head !== undefined) {
      const { commits, total } = await this.#commits({ to: head.commit });
      offered.push({ name: "HEAD", change: "switched", commits, total });
    }
    if (stash.length > 0) {
      const commits = stash.map(({ id, message: title }) => ({ id, title }));
      offered.push({ name: "refs/stash", commits, total: stash.length, change: "created" });
    }
    return offered;
  }

  /** The difference that the changes make, bounded; of a new branch since it left what the user has. */
  async diff({ refs, head }: Incoming): Promise<string> {
    const changes = [...byImportance(refs).filter(({ name }) => name.startsWith("refs/heads/"))];
    if (head?.kind === "detached") changes.push({ name: "HEAD", to: head.commit });
    const parts: string[] = [];
    let size = 0;
    for (const change of changes.slice(0, MAX_DETAILED)) {
      const { to } = change;
      const from = await this.#startOf(change);
      if (to === undefined || from === undefined || size >= MAX_DIFF) continue;
      const options = ["--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short"];
      const { stdout } = await this.#git.attempt(["diff", ...options, from, to, "--"]);
      if (parts.includes(stdout)) continue;
      parts.push(stdout);
      size += stdout.length;
    }
    return parts.join("").slice(0, MAX_DIFF);
  }

  /**
   * The files that tools run or obey and the changes would bring, in commits, the stash or the index: of protected names,
   * and what the settings of the repository name as hooks and programs. Commits that only a
   * branch of a remote has are no less foreign when one of the user's own branches gets them.
   */
  async protectedPaths(incoming: Incoming, now: RepositoryState): Promise<string[]> {
    const moved = incoming.refs.flatMap(({ name, to }) => (to === undefined ? [] : [[name, to] as const]));
    const isBranch = ([name]: readonly [string, string]) => name.startsWith("refs/heads/");
    const branches = moved.filter(isBranch).map(([, to]) => to);
    const others = moved.filter((change) => !isBranch(change)).map(([, to]) => to);
    const own = [...branches, ...detachedCommit(incoming.head)];
    const stash = incoming.stash.map(({ id }) => id);
    const known = ["--branches", ...detachedCommit(now.head)];
    const { pathspecs, isMeant } = await this.#protected();
    const lists = await Promise.all([
      this.#changedPaths(own, known, pathspecs),
      this.#changedPaths(stash, known, pathspecs, OF_STASH),
      this.#changedPaths(others, KNOWN, pathspecs),
      this.#stagedPaths(incoming, { head: now.head, refs: new Map([...now.refs, ...moved]) }, pathspecs),
    ]);
    return [...new Set(lists.flat())].filter(isMeant).sort();
  }

  async #protected() {
    const { hooksFolder, namedFiles = [] } = (await gitSteering(this.#worktree)) ?? {};
    const inWorktree = (paths: readonly string[]) =>
      paths
        .filter((path) => path !== this.#worktree && isPathIn(path, this.#worktree))
        .map((path) => relative(this.#worktree, path).toLowerCase());
    const files = inWorktree(namedFiles).slice(0, MAX_NAMED);
    const hooks = inWorktree(hooksFolder === undefined ? [] : [hooksFolder]);
    const pathspecs = [...ALL_PROTECTED_NAMES, ...files, ...hooks].map((path) => `:(icase,literal)${path}`);
    const isMeant = (path: string) => {
      const [top = ""] = path.split("/");
      const name = path.toLowerCase();
      return isProtectedName(top) || files.includes(name) || hooks.some((folder) => isPathIn(name, folder));
    };
    return { pathspecs, isMeant };
  }

  async #changedPaths(
    commits: readonly string[],
    known: readonly string[],
    pathspecs: readonly string[],
    ofMerges: readonly (readonly string[])[] = OF_MERGES,
  ): Promise<string[]> {
    if (commits.length === 0) return [];
    const input = commits.map((commit) => `${commit}\n`).join("");
    const range = ["--not", ...known, "--", ...pathspecs];
    const all = paths(await this.#git.run([...CHANGED_PATHS, "-m", ...range], input));
    if (all.length === 0) return [];
    // To compare a merge, git makes it again, of the agent's content.
    const git = this.#git.withoutFilters();
    const listed = ofMerges.map((options) => git.attempt([...CHANGED_PATHS, ...options, ...range], input));
    const results = await Promise.all(listed);
    // Git before 2.35 cannot say how it would merge.
    if (results.some(({ exitCode }) => exitCode !== 0)) return all;
    return results.flatMap(({ stdout }) => paths(stdout));
  }

  /** Returns the paths that are staged beside the commit that will be checked out. */
  async #stagedPaths(
    { head, staged }: Incoming,
    now: Pick<RepositoryState, "head" | "refs">,
    pathspecs: readonly string[],
  ): Promise<string[]> {
    if (staged === undefined) return [];
    const commit = headCommit({ ...now, head: head ?? now.head }) ?? (await this.#emptyTree());
    const options = ["-r", "-z", "--name-only", "--no-renames", "--ignore-submodules=none"];
    return paths(await this.#git.run(["diff-tree", ...options, commit, staged, "--", ...pathspecs]));
  }

  /** Reports whether a commit is part of the history of another. */
  async isAncestor(ancestor: string, commit: string): Promise<boolean> {
    return (await this.#git.attempt(["merge-base", "--is-ancestor", ancestor, commit])).exitCode === 0;
  }

  async #describe(change: RefChange): Promise<OfferedRef> {
    const { lost, ...commits } = await this.#commits(change);
    const { name } = change;
    return { ...(lost ? { name, change: "forced" as const } : plain(change)), ...commits };
  }

  /** The commits that a change brings, and whether others are lost by it. */
  async #commits({ from, to }: Pick<RefChange, "from" | "to">) {
    if (to === undefined) return { commits: [], total: 0, lost: false };
    // What is only on the left side is lost.
    const range = from === undefined ? [to, "--not", ...KNOWN] : [`${from}...${to}`];
    const format = ["--left-right", "--format=%m%x09%H%x09%s", `--max-count=${MAX_COMMITS + 1}`];
    const { stdout } = await this.#git.attempt(["log", ...format, ...range, "--"]);
    const rows = stdout.split("\n").map((line) => line.split("\t"));
    const commits = rows.flatMap(([side, id = "", ...title]) =>
      side === ">" && OBJECT_ID.test(id) ? [{ id, title: title.join("\t").slice(0, 200) }] : [],
    );
    if (rows.length <= MAX_COMMITS) {
      return { commits, total: commits.length, lost: rows.some(([side]) => side === "<") };
    }
    const counted = await this.#git.attempt(["rev-list", "--left-right", "--count", ...range, "--"]);
    const [left = 0, right = 0] = counted.stdout.trim().split(/\s+/).map(Number);
    return { commits: commits.slice(0, MAX_COMMITS), total: right || commits.length, lost: left > 0 };
  }

  /**
   * Returns the commit to compare with: the old value, else the newest commit that the user has too, else
   * none.
   */
  async #startOf({ from, to }: RefChange): Promise<string | undefined> {
    if (from !== undefined || to === undefined) return from;
    const boundary = await this.#git.attempt(["rev-list", "--boundary", to, "--not", ...KNOWN, "--"]);
    const found = boundary.stdout
      .split("\n")
      .find((line) => line.startsWith("-"))
      ?.slice(1);
    if (found !== undefined) return found;
    const isNew = boundary.stdout.trim() !== "";
    return isNew ? this.#emptyTree() : undefined;
  }

  async #emptyTree(): Promise<string> {
    return (await this.#git.run(["hash-object", "-t", "tree", "--stdin"])).trim();
  }
}

function plain({ name, from, to }: RefChange): Pick<OfferedRef, "name" | "change"> {
  if (to === undefined) return { name, change: "deleted" };
  return { name, change: from === undefined ? "created" : "updated" };
}

/** The commit that HEAD names itself, if it does. */
export function detachedCommit(head: Head | undefined): string[] {
  return head?.kind === "detached" ? [head.commit] : [];
}

function paths(listed: string): string[] {
  return listed.split("\0").filter((path) => path !== "");
}

function isRemote(name: string): boolean {
  return name.startsWith("refs/remotes/");
}

/** Branches, then tags, then what was fetched from remotes. */
function byImportance(refs: readonly RefChange[]): readonly RefChange[] {
  const order = ["refs/heads/", "refs/tags/", "refs/remotes/"];
  const rank = ({ name }: RefChange) => order.findIndex((prefix) => name.startsWith(prefix));
  return [...refs].sort((left, right) => rank(left) - rank(right));
}

/** The commands with which the user takes over later what was offered, one per branch, tag or stash entry. */
export function applyLaterCommands(refs: readonly OfferedRef[], kept: (name: string) => string): string[] {
  return refs.flatMap((ref) => commandFor(ref, kept).map((words) => inSubmodule(ref, words)));
}

function commandFor({ name, change, commits }: OfferedRef, kept: (name: string) => string): string[] {
  const short = name.replace(/^refs\/(?:heads|tags)\//, "");
  if (name === "refs/stash") return commits.map(({ id }) => `stash store ${id}`);
  if (name === "HEAD") return [`merge ${kept(name)}`];
  if (change === "deleted" || change === "switched" || name.startsWith("refs/remotes/")) return [];
  if (name.startsWith("refs/tags/"))
    return [`tag ${change === "created" ? "" : "-f "}${short} ${kept(name)}`];
  return [change === "created" ? `branch ${short} ${kept(name)}` : `merge ${kept(name)}`];
}

function inSubmodule({ submodule }: OfferedRef, words: string): string {
  return submodule === undefined ? `git ${words}` : `git -C ${shellQuote(submodule)} ${words}`;
}
