import { relative } from "node:path";
import { isPathIn } from "@flint/protocol";
import { ALL_PROTECTED_NAMES, isProtectedName } from "../sandbox/paths/protected-names.ts";
import { gitSteering } from "../steering/index.ts";
import type { GitCommand } from "./git-command.ts";
import type { Incoming, RefChange } from "./incoming.ts";
import { detachedCommit, emptyTree, KNOWN, NAMES, type SeenCommits, SHOW_ROOT } from "./offered-refs.ts";
import { headCommit, type RepositoryState } from "./repository.ts";

/** Maximum number of files named by settings that are looked for. */
const MAX_NAMED = 200;

/**
 * Lists the files that the commits from its input change. Other than a comparison of two trees, that includes what a later
 * commit undoes.
 */
const CHANGED_PATHS = [...SHOW_ROOT, "log", "--stdin", "--full-history", "--format=", ...NAMES];

/**
 * Of merges, what is as in none of their parents, and what git would have merged differently: a merge can also take back
 * what one side has changed, by the content of the other. Git cannot merge more than two again.
 */
const OF_MERGES = [["-c"], ["--remerge-diff", "--max-parents=2"], ["-m", "--min-parents=3"]];

/** An entry of the stash has the form of a merge, and brings what is not as in its first parent. */
const OF_STASH = [["-c"], ["-m", "--first-parent"]];

type IsProtected = (path: string) => boolean;

/** Finds protected files in what was fetched from a sandbox. */
export class ProtectedCommits {
  readonly #git: GitCommand;
  readonly #worktree: string;

  constructor(git: GitCommand, worktree: string) {
    this.#git = git;
    this.#worktree = worktree;
  }

  /**
   * The files that tools run or obey and the changes would bring, in commits, the stash or the index: of protected names,
   * and what the settings of the repository name as hooks and programs. Commits that only a
   * branch of a remote has are no less foreign when one of the user's own branches gets them. What `listing` has seen
   * need not be looked at again.
   */
  async paths(incoming: Incoming, now: RepositoryState, listing: Promise<SeenCommits>): Promise<string[]> {
    const moved = incoming.refs.flatMap(({ name, to }) => (to === undefined ? [] : [[name, to] as const]));
    const others = moved.filter(([name]) => !isBranch(name)).map(([, to]) => to);
    const stash = incoming.stash.map(({ id }) => id);
    const known = ["--branches", ...detachedCommit(now.head)];
    const { pathspecs, isMeant } = await this.#protected();
    const ofBranches = async () => {
      const changes = incoming.refs.filter(({ name }) => isBranch(name));
      const own = [...(await unseen(changes, now, listing, isMeant)), ...detachedCommit(incoming.head)];
      return this.#changedPaths(own, known, pathspecs);
    };
    const after = { head: now.head, refs: new Map([...now.refs, ...moved]) };
    const lists = await Promise.all([
      ofBranches(),
      this.#changedPaths(stash, known, pathspecs, OF_STASH),
      this.#changedPaths(others, KNOWN, pathspecs),
      this.#taggedPaths(others, pathspecs),
      listing.then(({ trees }) => this.#stagedPaths(incoming, after, trees, pathspecs)),
    ]);
    return [...new Set(lists.flat())].filter(isMeant).sort();
  }

  /** The same in the history of a commit, as far as neither `base` nor a branch of the user has it. */
  async pathsOf(commit: string, base: string): Promise<string[]> {
    const { pathspecs, isMeant } = await this.#protected();
    const found = await this.#changedPaths([commit], ["--branches", base], pathspecs);
    return [...new Set(found)].filter(isMeant).sort();
  }

  async #protected(): Promise<{ pathspecs: readonly string[]; isMeant: IsProtected }> {
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
    after: Pick<RepositoryState, "head" | "refs">,
    trees: ReadonlyMap<string, string>,
    pathspecs: readonly string[],
  ): Promise<string[]> {
    if (staged === undefined) return [];
    const commit = headCommit({ ...after, head: head ?? after.head });
    if (commit !== undefined && trees.get(commit) === staged) return [];
    return this.#differentPaths(commit ?? (await emptyTree(this.#git)), staged, pathspecs);
  }

  /** Returns the paths in trees that are no commit's, which a tag can name all the same. */
  async #taggedPaths(tagged: readonly string[], pathspecs: readonly string[]): Promise<string[]> {
    if (tagged.length === 0) return [];
    const asked = tagged.map((id) => `${id}^{}\n`).join("");
    const listed = await this.#git.run(["cat-file", "--batch-check=%(objecttype) %(objectname)"], asked);
    const trees = new Set(listed.split("\n").flatMap((line) => /^tree (\S+)$/.exec(line)?.[1] ?? []));
    if (trees.size === 0) return [];
    const empty = await emptyTree(this.#git);
    const found: string[] = [];
    // One after the other, because an agent chooses how many there are.
    for (const tree of trees) found.push(...(await this.#differentPaths(empty, tree, pathspecs)));
    return found;
  }

  async #differentPaths(from: string, to: string, pathspecs: readonly string[]): Promise<string[]> {
    const options = ["-r", "-z", "--name-only", "--no-renames", "--ignore-submodules=none"];
    return paths(await this.#git.run(["diff-tree", ...options, from, to, "--", ...pathspecs]));
  }
}

/** The new commits of branches of which it was not seen that what they bring changes no protected file. */
async function unseen(
  changes: readonly RefChange[],
  now: RepositoryState,
  listing: Promise<SeenCommits>,
  isMeant: IsProtected,
): Promise<string[]> {
  // What comes after the user's own branch is at least what no branch of the user has.
  const isOwn = ({ name, from }: RefChange) => from !== undefined && now.refs.get(name) === from;
  const changed = changes.some(isOwn) ? (await listing).changed : new Map<string, readonly string[]>();
  const isHarmless = (change: RefChange) =>
    isOwn(change) && changed.get(change.name)?.some(isMeant) === false;
  return changes.flatMap((change) => (change.to === undefined || isHarmless(change) ? [] : [change.to]));
}

function isBranch(name: string): boolean {
  return name.startsWith("refs/heads/");
}

function paths(listed: string): string[] {
  return listed.split("\0").filter((path) => path !== "");
}
