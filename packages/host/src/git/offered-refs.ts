import { randomUUID } from "node:crypto";
import type { OfferedRef } from "@flint/core/ports";
import { shellQuote } from "@flint/core/text";
import type { GitCommand } from "./git-command.ts";
import type { Incoming, RefChange } from "./incoming.ts";
import { type Head, OBJECT_ID } from "./repository.ts";

const MAX_COMMITS = 50;
const MAX_DIFF = 200_000;

/** The commits that the user has, as options of `git rev-list`. */
export const KNOWN = ["--branches", "--tags", "--remotes"];

/** With the files of a commit without parents. */
export const SHOW_ROOT = ["-c", "log.showRoot=true"];

/** The number of refs that are shown with their commits; each costs a few calls of git. */
const MAX_DETAILED = 40;

/** Arguments of git that list the names of the files that a commit changes, each as it is. */
export const NAMES = ["--name-only", "-z", "--no-renames", "--ignore-submodules=none"];

/** The inspected parts of the offered commits. */
export interface SeenCommits {
  /** Their trees. */
  readonly trees: Map<string, string>;
  /** The files that the commits of a ref change, one by one, by its name; only of refs of which all of it is known. */
  readonly changed: Map<string, readonly string[]>;
}

/** The offered refs, and what was seen of their commits. */
export interface OfferedList {
  readonly refs: readonly OfferedRef[];
  readonly seen: SeenCommits;
}

/** Describes what was fetched from a sandbox, for the user to decide about. */
export class OfferedRefs {
  readonly #git: GitCommand;

  constructor(git: GitCommand) {
    this.#git = git;
  }

  /** The changes with the commits that they bring, most important first. */
  async list({ refs, head, stash }: Incoming): Promise<OfferedList> {
    const seen: SeenCommits = { trees: new Map(), changed: new Map() };
    const offered: OfferedRef[] = [];
    for (const [at, change] of byImportance(refs).entries()) {
      const isDetailed = at < MAX_DETAILED && !isRemote(change.name);
      const described = isDetailed ? await this.#describe(change, seen) : undefined;
      offered.push(described ?? { ...plain(change), commits: [], total: 0 });
    }
    if (head?.kind === "branch") {
      offered.push({ name: head.ref, commits: [], total: 0, change: "switched" });
    } else if (head !== undefined) {
      const { commits, total } = await this.#commits({ name: "HEAD", to: head.commit }, seen);
      offered.push({ name: "HEAD", change: "switched", commits, total });
    }
    if (stash.length > 0) {
      const commits = stash.map(({ id, message: title }) => ({ id, title }));
      offered.push({ name: "refs/stash", commits, total: stash.length, change: "created" });
    }
    return { refs: offered, seen };
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

  /** Reports whether a commit is part of the history of another. */
  async isAncestor(ancestor: string, commit: string): Promise<boolean> {
    return (await this.#git.attempt(["merge-base", "--is-ancestor", ancestor, commit])).exitCode === 0;
  }

  async #describe(change: RefChange, seen: SeenCommits): Promise<OfferedRef> {
    const { lost, ...commits } = await this.#commits(change, seen);
    const { name } = change;
    return { ...(lost ? { name, change: "forced" as const } : plain(change)), ...commits };
  }

  /** The commits that a change brings, and whether others are lost by it. */
  async #commits({ name, from, to }: RefChange, seen: SeenCommits) {
    if (to === undefined) return { commits: [], total: 0, lost: false };
    // Commits that are only on the left side are lost.
    const range = from === undefined ? [to, "--not", ...KNOWN] : [`${from}...${to}`];
    const { rows, changed } = await this.#log(range, from !== undefined);
    const commits = rows.flatMap(({ side, id, title }) => (side === ">" ? [{ id, title }] : []));
    for (const { id, tree } of rows) seen.trees.set(id, tree);
    if (rows.length <= MAX_COMMITS) {
      if (changed !== undefined) seen.changed.set(name, changed);
      return { commits, total: commits.length, lost: rows.some(({ side }) => side === "<") };
    }
    const counted = await this.#git.attempt(["rev-list", "--left-right", "--count", ...range, "--"]);
    const [left = 0, right = 0] = counted.stdout.trim().split(/\s+/).map(Number);
    return { commits: commits.slice(0, MAX_COMMITS), total: right || commits.length, lost: left > 0 };
  }

  /** Commits and, if asked for and known, the files that they change. Git compares a merge with nothing. */
  async #log(range: readonly string[], withNames: boolean): Promise<Logged> {
    // A file can have any name, but none that begins with this.
    const mark = `${randomUUID()}\t`;
    const format = ["--left-right", "-z", `--format=${mark}%m%x09%H%x09%T%x09%P%x09%s`];
    const listed = [...format, `--max-count=${MAX_COMMITS + 1}`, ...(withNames ? NAMES : [])];
    const { exitCode, stdout } = await this.#git.attempt([...SHOW_ROOT, "log", ...listed, ...range, "--"]);
    // So many files that git was stopped.
    if (withNames && exitCode !== 0) return this.#log(range, false);
    const { rows, changed } = parseLog(stdout, mark);
    const isRead = stdout === "" || stdout.startsWith(mark);
    const isKnown = withNames && isRead && rows.every(({ isMerge }) => !isMerge);
    return { rows, changed: isKnown ? changed : undefined };
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
    return isNew ? emptyTree(this.#git) : undefined;
  }
}

/** The tree without files, which every repository knows. */
export async function emptyTree(git: GitCommand): Promise<string> {
  return (await git.run(["hash-object", "-t", "tree", "--stdin"])).trim();
}

interface LogRow {
  readonly side: string;
  readonly id: string;
  readonly tree: string;
  readonly isMerge: boolean;
  readonly title: string;
}

interface Logged {
  readonly rows: readonly LogRow[];
  /** The files that the commits change, one by one; undefined if that is not known of all. */
  readonly changed: readonly string[] | undefined;
}

/** Reads rows that begin with a mark, each followed by the names of files; the first of these comes after a line end. */
function parseLog(printed: string, mark: string): { rows: LogRow[]; changed: string[] } {
  const rows: LogRow[] = [];
  const changed: string[] = [];
  let isFirst = false;
  for (const piece of printed.split("\0")) {
    const isRow = piece.startsWith(mark);
    if (isRow) rows.push(...parseRow(piece.slice(mark.length)));
    else if (piece !== "") changed.push(isFirst ? piece.replace(/^\n/, "") : piece);
    isFirst = isRow;
  }
  return { rows, changed };
}

function parseRow(row: string): LogRow[] {
  const [side = "", id = "", tree = "", parents = "", ...title] = row.split("\t");
  if (!OBJECT_ID.test(id)) return [];
  return [{ side, id, tree, isMerge: parents.includes(" "), title: title.join("\t").slice(0, 200) }];
}

function plain({ name, from, to }: RefChange): Pick<OfferedRef, "name" | "change"> {
  if (to === undefined) return { name, change: "deleted" };
  return { name, change: from === undefined ? "created" : "updated" };
}

/** The commit that HEAD names itself, if it does. */
export function detachedCommit(head: Head | undefined): string[] {
  return head?.kind === "detached" ? [head.commit] : [];
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
