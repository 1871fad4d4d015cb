import { existsSync } from "node:fs";
import { join } from "node:path";
import type { OfferedRef } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import type { ConfinedGit, ConfinedProcess } from "./confined-git.ts";
import type { GitCommand } from "./git-command.ts";
import {
  changesSince,
  type Incoming,
  REPORT_END,
  REPORT_SCRIPT,
  type RefChange,
  type Report,
  readReport,
  STAGED_REF,
  STASH_REFS,
} from "./incoming.ts";
import { detachedCommit, OfferedRefs } from "./offered-refs.ts";
import type { PrivateGitDir } from "./private-git-dir.ts";
import { ProtectedCommits } from "./protected-commits.ts";
import { assertObjectsComplete, receiveObjects } from "./receive.ts";
import {
  headCommit,
  indexVersion,
  isSameHead,
  type RepositoryState,
  readHead,
  readStash,
  readState,
  unfinishedOperation,
} from "./repository.ts";

/** The changes of an agent, for as long as its sandbox waits to send them. It has to be closed. */
export interface Pending {
  readonly incoming: Incoming;
  /** Receives the objects, without changing any ref of the user, and describes them. Rejects if git refuses them. */
  offer(): Promise<Offer>;
  close(): void;
}

/** The changes that would be taken over, for the user to review. */
export interface Offer {
  /** With the commits that the user made meanwhile as the starting point, where the agent's build on them. */
  readonly incoming: Incoming;
  readonly refs: readonly OfferedRef[];
  /** The difference that the refs make, bounded. */
  readonly diff: string;
  /** The files with protected names that would change. */
  readonly protectedPaths: readonly string[];
  /** Keeps what was received under `refs/flint/in`, in place of what was kept there before. */
  keep(): Promise<void>;
}

/** The outcome of a take-over. */
export type TakeOver =
  | { readonly status: "done"; readonly notes: readonly string[] }
  /** Nothing was changed. */
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
  readonly #protected: ProtectedCommits;
  readonly #limits: TakeOverLimits;
  /** Prefix of the refs that keep declined commits. */
  readonly #prefix: string;
  /** The refs that are there. */
  #kept: readonly string[] = [];

  constructor(
    git: GitCommand,
    privateDir: PrivateGitDir,
    confined: ConfinedGit,
    declinedBelow: string,
    limits: TakeOverLimits = LIMITS,
  ) {
    this.#git = git;
    this.#private = privateDir;
    this.#confined = confined;
    this.#offered = new OfferedRefs(git);
    this.#protected = new ProtectedCommits(git, privateDir.repository.worktree);
    this.#limits = limits;
    this.#prefix = declinedBelow;
  }

  /** Looks at the private git directory, from inside; `whole` tells also whether it is in use. */
  async report(extent: "changes" | "whole" = "changes"): Promise<Report> {
    const { exitCode, stdout, stderr } = await this.#confined.run(reportCommand(extent));
    const [printed = "", ...end] = stdout.split(`${REPORT_END}\n`);
    const report = end.length === 0 || exitCode === 137 ? undefined : readReport(printed);
    if (report === undefined) throw unreadable(stderr);
    return report;
  }

  /** Looks at what the agent did, and at what the user has, unless that is known. */
  async pending(known?: RepositoryState): Promise<Pending> {
    const state = known === undefined ? this.#state() : Promise.resolve(known);
    // Awaited below, unless the sandbox fails first.
    state.catch(() => undefined);
    const sender = await this.#confined.start(reportCommand("changes"));
    // If one of them fails, the other one must not continue.
    try {
      const [printed, now] = await Promise.all([sender.readUntil(REPORT_END), state]);
      const report = printed === undefined ? undefined : readReport(printed);
      if (report === undefined) throw unreadable(await sender.allErrors());
      const incoming = changesSince(this.#private.base, report);
      const offer = () => this.#offer(incoming, now, sender);
      return { incoming, offer, close: () => sender.close() };
    } catch (thrown) {
      sender.close();
      throw thrown;
    }
  }

  async #offer(reported: Incoming, now: RepositoryState, sender: ConfinedProcess): Promise<Offer> {
    if (reported.refs.length > this.#limits.refs) {
      const message = `The agent changed ${reported.refs.length} branches and tags, and at most ${this.#limits.refs} are applied at once; they stay in its copy of .git.`;
      throw new FlintError("internalError", message);
    }
    const objects = requestedObjects(reported);
    const requested = [...new Set(objects.values())];
    const known = [...new Set([...now.refs.values(), ...now.stash.slice(0, 1), ...detachedCommit(now.head)])];
    if (requested.length > 0)
      await receiveObjects(this.#git, sender, { requested, known, maxBytes: this.#limits.packBytes });
    const incoming = await this.#sinceUsersCommits(reported, now);
    const listing = this.#offered.list(incoming);
    const seen = listing.then((list) => list.seen);
    // It is awaited below, perhaps after it has failed.
    seen.catch(() => undefined);
    const [{ refs }, diff, protectedPaths] = await Promise.all([
      listing,
      this.#offered.diff(incoming),
      this.#protected.paths(incoming, now, seen),
      requested.length === 0 ? undefined : assertObjectsComplete(this.#git, requested),
    ]);
    this.#kept = [...(now.kept?.keys() ?? [])];
    return { incoming, refs, diff, protectedPaths, keep: () => this.#keep(objects) };
  }

  /** Changes the user's refs, HEAD, stash and index to what was offered; all refs or none, and only if no one else changed them. */
  async accept(incoming: Incoming): Promise<TakeOver> {
    const { repository, base } = this.#private;
    const operation = await unfinishedOperation(repository);
    if (operation !== undefined) return refused(`a ${operation} is not finished in the repository`);
    const elsewhere = await this.#checkedOutElsewhere(incoming.refs);
    if (elsewhere !== undefined) return refused(`${elsewhere} is checked out in another worktree`);
    const current = await readHead(this.#git, repository.gitDir);
    const isHeadSame = isSameHead(current, base.head);
    if (incoming.head !== undefined && !isHeadSame) return refused("HEAD was changed in the meantime");
    const head = incoming.head ?? current;
    const isDeleted = ({ name, to }: RefChange) =>
      to === undefined && head.kind === "branch" && head.ref === name;
    if (incoming.refs.some(isDeleted)) return refused("the branch that is checked out would be deleted");
    // The version of the index has to be read before anything moves.
    const isIndexSame = (await indexVersion(repository.gitDir)) === base.indexVersion;
    const before = isIndexSame && incoming.staged !== undefined ? undefined : await this.#state();
    const forgotten = this.#kept.map((name) => `delete ${name}`);
    const updated = await this.#updateRefs([...incoming.refs.flatMap(refUpdate), ...forgotten]);
    if (updated.exitCode !== 0) return refused(reasonOf(updated.stderr));
    this.#kept = [];
    await this.#moveHead(incoming);
    const notes = isHeadSame ? await this.#moveIndex(incoming, before) : [];
    notes.push(...(await this.#storeStash(incoming)));
    if (incoming.ignoredRefs > 0) notes.push(ignoredNote(incoming.ignoredRefs));
    return { status: "done", notes };
  }

  #state(): Promise<RepositoryState> {
    return readState(this.#git, this.#private.repository, this.#prefix);
  }

  #updateRefs(lines: readonly string[]) {
    return this.#git.attempt(["update-ref", "--stdin"], lines.map((line) => `${line}\n`).join(""));
  }

  async #keep(objects: ReadonlyMap<string, string>): Promise<void> {
    const kept = new Map([...objects].map(([name, object]) => [this.kept(name), object]));
    const forgotten = this.#kept.filter((name) => !kept.has(name)).map((name) => `delete ${name}`);
    const updates = [...kept].map(([name, object]) => `update ${name} ${object}`);
    const { exitCode, stderr } = await this.#updateRefs([...forgotten, ...updates]);
    if (exitCode !== 0)
      throw new FlintError("internalError", `The commits cannot be kept: ${reasonOf(stderr)}.`);
    this.#kept = [...kept.keys()];
  }

  /** The ref under which something stays that was declined. */
  kept(name: string): string {
    return `${this.#prefix}/${name.replace(/^refs\//, "")}`;
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

  /**
   * The index becomes that of the agent. What the user staged meanwhile is kept, on top of the new commits: then `now` is
   * what the repository was.
   */
  async #moveIndex({ staged, refs, head }: Incoming, now: RepositoryState | undefined): Promise<string[]> {
    if (now === undefined) {
      const { exitCode, stderr } = await this.#git.attempt(["read-tree", "-m", "-i", staged ?? ""]);
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
  async #storeStash({ stash }: Incoming): Promise<string[]> {
    const present = stash.length === 0 ? [] : await readStash(this.#git);
    const notes: string[] = [];
    for (const { id, message } of [...stash].reverse()) {
      if (present.includes(id)) continue;
      const { exitCode, stderr } = await this.#git.attempt(["stash", "store", "-m", message, id]);
      if (exitCode !== 0) notes.push(`A stash entry was not stored: ${reasonOf(stderr)}.`);
    }
    return notes;
  }
}

/** Everything to receive, by the name under which it can be kept. */
function requestedObjects({ refs, staged, head, stash }: Incoming): Map<string, string> {
  const requested = new Map(refs.flatMap(({ name, to }) => (to === undefined ? [] : [[name, to] as const])));
  if (staged !== undefined) requested.set(STAGED_REF, staged);
  if (head?.kind === "detached") requested.set("HEAD", head.commit);
  for (const { id } of stash) requested.set(`${STASH_REFS}/${id}`, id);
  return requested;
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

function reportCommand(extent: "changes" | "whole"): string[] {
  return ["sh", "-c", REPORT_SCRIPT, "sh", extent];
}

function unreadable(stderr: string): FlintError {
  const [line = ""] = stderr.trim().split("\n");
  const reason = line === "" ? "git failed or did not finish in time" : line.slice(0, 300);
  const message = `The agent's copy of .git cannot be read (${reason}); its commits stay there.`;
  return new FlintError("internalError", message);
}

function refused(reason: string): TakeOver {
  return { status: "refused", reason };
}

function reasonOf(stderr: string): string {
  return (stderr.trim().split("\n").at(-1) ?? "").replace(/^(?:fatal|error): /, "").slice(0, 500);
}
