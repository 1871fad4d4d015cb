import { existsSync } from "node:fs";
import { join } from "node:path";
import type { OfferedRef } from "@flint/core/ports";
import { singleQuote } from "@flint/core/text";
import { FlintError } from "@flint/protocol";
import type { GitCommand, GitResult } from "./git-command.ts";
import {
  changesSince,
  type Incoming,
  isEmpty,
  isWhole,
  REPORT_SCRIPT,
  type RefChange,
  type Report,
  readReport,
  STAGED_REF,
  STASH_REFS,
} from "./incoming.ts";
import { OfferedRefs } from "./offered-refs.ts";
import type { PrivateGitDir } from "./private-git-dir.ts";
import {
  headCommit,
  isSameHead,
  type RepositoryState,
  readState,
  unfinishedOperation,
} from "./repository.ts";

/** Runs commands in the sandbox of an agent, with its private git directory in place and without any network. */
export interface ConfinedGit {
  run(command: readonly string[], input?: string): Promise<GitResult>;
  /** The command line that runs a command likewise, to be used at once. */
  wrap(command: readonly string[]): Promise<readonly string[]>;
}

/** What would be taken over, for the user to look at. */
export interface Offer {
  /** With the commits that the user made meanwhile as the starting point, where the agent's build on them. */
  readonly incoming: Incoming;
  readonly refs: readonly OfferedRef[];
  /** The difference that the refs make, bounded. */
  readonly diff: string;
}

/** How a take-over ended. */
export type TakeOver =
  | { readonly status: "done"; readonly notes: readonly string[] }
  /** Nothing was changed. The commits stay under `refs/flint/in`. */
  | { readonly status: "refused"; readonly reason: string };

/** The limits of one take-over. */
export interface TakeOverLimits {
  readonly refs: number;
  /** Of the pack with the new objects. */
  readonly packBytes: number;
}

const LIMITS: TakeOverLimits = { refs: 5_000, packBytes: 2 * 1024 ** 3 };

/**
 * Takes the commits of an agent over into the user's repository. They are fetched as from a remote that is not trusted:
 * git checks every object, nothing that the agent wrote is read as a file of a repository, and no program that it named
 * runs outside of the sandbox.
 */
export class GitTakeOver {
  readonly #git: GitCommand;
  readonly #private: PrivateGitDir;
  readonly #confined: ConfinedGit;
  readonly #offered: OfferedRefs;
  readonly #limits: TakeOverLimits;
  /** Where fetched refs are kept until they are taken over. */
  readonly #prefix: string;

  constructor(
    git: GitCommand,
    privateDir: PrivateGitDir,
    confined: ConfinedGit,
    id: string,
    limits: TakeOverLimits = LIMITS,
  ) {
    this.#git = git;
    this.#private = privateDir;
    this.#confined = confined;
    this.#offered = new OfferedRefs(git);
    this.#limits = limits;
    this.#prefix = `refs/flint/in/${id}`;
  }

  /** Looks at the private git directory, from inside; `whole` tells also whether it is in use. */
  async report(extent: "changes" | "whole" = "changes"): Promise<Report> {
    const script = ["sh", "-c", REPORT_SCRIPT, "sh", extent];
    const { exitCode, stdout, stderr } = await this.#confined.run(script);
    if (!isWhole(stdout) || exitCode === 137) {
      const reason = stderr.trim().split("\n")[0] ?? "";
      const message = `The agent's copy of .git cannot be read (${reason.slice(0, 300)}); its commits stay there.`;
      throw new FlintError("internalError", message);
    }
    return readReport(stdout);
  }

  /** Looks at what the agent did; undefined if there is nothing to take over. */
  async incoming(): Promise<Incoming | undefined> {
    const incoming = changesSince(this.#private.base, await this.report());
    return isEmpty(incoming) ? undefined : incoming;
  }

  /** Fetches the objects, without changing any ref of the user, and describes them. Rejects if git refuses them. */
  async offer(reported: Incoming): Promise<Offer> {
    if (reported.refs.length > this.#limits.refs) {
      const message = `The agent changed ${reported.refs.length} branches and tags, and at most ${this.#limits.refs} are applied at once; they stay in its copy of .git.`;
      throw new FlintError("internalError", message);
    }
    const wanted = wantedRefs(reported);
    if (wanted.size > 0) await this.#fetch(wanted);
    const now = await readState(this.#git, this.#private.repository, this.#prefix);
    this.#expectFetched(wanted, now.kept);
    const incoming = await this.#sinceUsersCommits(reported, now);
    const [refs, diff] = await Promise.all([this.#offered.list(incoming), this.#offered.diff(incoming)]);
    return { incoming, refs, diff };
  }

  /** Changes the user's refs, HEAD, stash and index to what was offered; all refs or none, and only if no one else changed them. */
  async accept(incoming: Incoming): Promise<TakeOver> {
    const { repository, base } = this.#private;
    const operation = await unfinishedOperation(repository);
    if (operation !== undefined) return refused(`a ${operation} is not finished in the repository`);
    const elsewhere = await this.#checkedOutElsewhere(incoming.refs);
    if (elsewhere !== undefined) return refused(`${elsewhere} is checked out in another worktree`);
    const now = await readState(this.#git, repository, this.#prefix);
    const isHeadSame = isSameHead(now.head, base.head);
    if (incoming.head !== undefined && !isHeadSame) return refused("HEAD was changed in the meantime");
    const head = incoming.head ?? now.head;
    const isDeleted = ({ name, to }: RefChange) =>
      to === undefined && head.kind === "branch" && head.ref === name;
    if (incoming.refs.some(isDeleted)) return refused("the branch that is checked out would be deleted");
    // What was fetched is forgotten at the same moment; nothing removes objects that soon.
    const forgotten = [...(now.kept?.keys() ?? [])].map((name) => `delete ${name}`);
    const lines = [...incoming.refs.flatMap(refUpdate), ...forgotten];
    const updated = await this.#git.attempt(
      ["update-ref", "--stdin"],
      lines.map((row) => `${row}\n`).join(""),
    );
    if (updated.exitCode !== 0) return refused(reasonOf(updated.stderr));
    await this.#moveHead(incoming);
    const notes = isHeadSame ? await this.#moveIndex(incoming, now) : [];
    notes.push(...(await this.#storeStash(incoming, now.stash)));
    if (incoming.ignoredRefs > 0) notes.push(ignoredNote(incoming.ignoredRefs));
    return { status: "done", notes };
  }

  /** The ref under which something that was fetched stays until it is taken over. */
  kept(name: string): string {
    return `${this.#prefix}/${name.replace(/^refs\//, "")}`;
  }

  async #fetch(wanted: ReadonlyMap<string, string>): Promise<void> {
    const refspecs = [...wanted.keys()].map((name) => `+${name}:${this.kept(name)}\n`).join("");
    // A sandbox cannot be set up if a socket vanishes that it covers, and git does not tell that apart.
    await this.#fetchOnce(refspecs).catch(() => this.#fetchOnce(refspecs));
  }

  async #fetchOnce(refspecs: string): Promise<void> {
    const uploadPack = (await this.#confined.wrap(["git", "upload-pack"])).map(singleQuote).join(" ");
    const options = [
      ...["--no-tags", "--no-prune", "--no-write-fetch-head", "--no-recurse-submodules"],
      ...["--no-auto-maintenance", "-q", "--stdin", `--upload-pack=${uploadPack}`],
    ];
    const fetch = ["fetch", ...options, `${this.#private.repository.worktree}/.git`];
    await this.#git.runBounded(fetch, refspecs, this.#limits.packBytes);
  }

  /** What arrived has to be what was reported, because that is what is shown and taken over. */
  #expectFetched(wanted: ReadonlyMap<string, string>, kept: RepositoryState["kept"]): void {
    for (const [name, object] of wanted) {
      if (kept?.get(this.kept(name)) === object) continue;
      throw new FlintError("internalError", `${name} changed while it was fetched; try again.`);
    }
  }

  /** A ref that the user moved meanwhile starts where it is now, if the agent's commits are based on that. */
  async #sinceUsersCommits(incoming: Incoming, now: RepositoryState): Promise<Incoming> {
    const refs: RefChange[] = [];
    for (const change of incoming.refs) {
      const { name, from, to } = change;
      const current = now.refs.get(name);
      if (current === to) continue;
      const isBased = current !== undefined && current !== from && to !== undefined;
      const follows = isBased && (await this.#offered.isAncestor(current, to));
      refs.push(follows ? { ...change, from: current } : change);
    }
    return { ...incoming, refs };
  }

  /** A branch that another worktree of the user has checked out, whose files would not match any more. */
  async #checkedOutElsewhere(refs: readonly RefChange[]): Promise<string | undefined> {
    const { worktree, gitDir, commonDir } = this.#private.repository;
    if (!existsSync(join(commonDir, "worktrees"))) return undefined;
    // A submodule is listed by its git directory.
    const here = [worktree, gitDir].map((path) => `worktree ${path}`);
    const listed = await this.#git.run(["worktree", "list", "--porcelain", "-z"]);
    const others = listed.split("\0\0").map((entry) => entry.split("\0"));
    for (const lines of others) {
      const branch = lines.find((line) => line.startsWith("branch "))?.slice("branch ".length);
      if (!here.includes(lines[0] ?? "") && refs.some(({ name }) => name === branch)) return branch;
    }
    return undefined;
  }

  async #moveHead({ head }: Incoming): Promise<void> {
    const message = ["-m", "taken over from an agent"];
    if (head?.kind === "branch") await this.#git.run(["symbolic-ref", ...message, "HEAD", head.ref]);
    if (head?.kind === "detached")
      await this.#git.run(["update-ref", ...message, "--no-deref", "HEAD", head.commit]);
  }

  /** The index becomes that of the agent. What the user staged meanwhile is kept, on top of the new commits. */
  async #moveIndex({ staged, refs, head }: Incoming, now: RepositoryState): Promise<string[]> {
    if (now.indexVersion === this.#private.base.indexVersion && staged !== undefined) {
      const { exitCode, stderr } = await this.#git.attempt(["read-tree", "-m", "-i", staged]);
      return exitCode === 0 ? [] : [`The index is as it was: ${reasonOf(stderr)}.`];
    }
    const moved = new Map(refs.flatMap(({ name, to }) => (to === undefined ? [] : [[name, to] as const])));
    const before = headCommit(now);
    const after = headCommit({ head: head ?? now.head, refs: new Map([...now.refs, ...moved]) });
    if (after === undefined || after === before) return [];
    const start = before ?? (await this.#git.run(["hash-object", "-t", "tree", "--stdin"])).trim();
    const { exitCode } = await this.#git.attempt(["read-tree", "-m", "-i", start, after]);
    return exitCode === 0
      ? []
      : ["The index is as it was, because you staged the same files in the meantime."];
  }

  /** One entry after the other, the oldest first. Entries that the agent dropped stay. */
  async #storeStash({ stash }: Incoming, present: readonly string[]): Promise<string[]> {
    const notes: string[] = [];
    for (const { id, message } of [...stash].reverse()) {
      if (present.includes(id)) continue;
      const { exitCode, stderr } = await this.#git.attempt(["stash", "store", "-m", message, id]);
      if (exitCode !== 0) notes.push(`A stash entry was not stored: ${reasonOf(stderr)}.`);
    }
    return notes;
  }
}

/** Everything to fetch, with what it has to be. */
function wantedRefs({ refs, staged, head, stash }: Incoming): Map<string, string> {
  const wanted = new Map(refs.flatMap(({ name, to }) => (to === undefined ? [] : [[name, to] as const])));
  if (staged !== undefined) wanted.set(STAGED_REF, staged);
  if (head?.kind === "detached") wanted.set("HEAD", head.commit);
  for (const { id } of stash) wanted.set(`${STASH_REFS}/${id}`, id);
  return wanted;
}

function refUpdate({ name, from, to }: RefChange): string[] {
  if (to === undefined) return [`delete ${name} ${from ?? ""}`];
  return from === undefined ? [`create ${name} ${to}`] : [`update ${name} ${to} ${from}`];
}

function ignoredNote(count: number): string {
  return count === 1
    ? "One ref has a name that a shell could misread, and was left out."
    : `${count} refs have names that a shell could misread, and were left out.`;
}

function refused(reason: string): TakeOver {
  return { status: "refused", reason };
}

function reasonOf(stderr: string): string {
  return (stderr.trim().split("\n").at(-1) ?? "").replace(/^(?:fatal|error): /, "").slice(0, 500);
}
