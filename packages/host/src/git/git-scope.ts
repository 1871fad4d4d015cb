import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join, relative } from "node:path";
import type { CommitOffer, OfferedRef } from "@flint/core/ports";
import { readTextNoFollow } from "../files/regular-file.ts";
import type { Mount } from "../sandbox/mechanisms/confinement.ts";
import type { ConfinedGit } from "./confined-git.ts";
import { planFollow } from "./follow.ts";
import type { GitCommand } from "./git-command.ts";
import { type GitRecord, saveRecord } from "./git-record.ts";
import { changesSince, declinedBelow, type Incoming, isEmpty, isPristine, type Report } from "./incoming.ts";
import { copyLfsObjects } from "./lfs.ts";
import { applyLaterCommands } from "./offered-refs.ts";
import { findMounts, makePrivateGitDir, type PrivateGitDir } from "./private-git-dir.ts";
import { headCommit, indexVersion, type Repository, type RepositoryState, readState } from "./repository.ts";
import { GitTakeOver, type Offer, type Pending } from "./take-over.ts";

/** Dependencies of the git directories of a scope. */
export interface GitScopeOptions {
  readonly id: string;
  /** The folder in which they are kept. */
  readonly folder: string;
  /** The repositories of the workspace, submodules before what contains them. */
  readonly repositories: readonly Repository[];
  /** Runs git on one of them, outside. */
  gitFor(repository: Repository): GitCommand;
  /** Runs commands in a sandbox in which nothing but the private git directories can be written. */
  confined(worktree: string, mounts: readonly Mount[]): Promise<ConfinedGit>;
}

/** One repository of the workspace. */
interface Member {
  readonly git: GitCommand;
  readonly number: number;
  privateDir: PrivateGitDir;
  /** True if its base is the user's state of when it was made or last followed. */
  isNew: boolean;
}

/** The pending changes of one repository. */
interface Waiting {
  readonly member: Member;
  readonly takeOver: GitTakeOver;
  readonly pending: Pending;
}

/** The offered changes of one repository. */
interface Offered extends Omit<Waiting, "pending"> {
  readonly offer: Offer;
}

/** The private git directories of one scope. Its methods must not overlap. */
export class GitScope {
  readonly #options: GitScopeOptions;
  readonly #members: readonly Member[];
  #declined: string | undefined;

  private constructor(options: GitScopeOptions, members: readonly Member[], declined?: string) {
    this.#options = options;
    this.#members = members;
    this.#declined = declined;
  }

  /** Makes new git directories, or continues with those that the record describes. */
  static async open(options: GitScopeOptions, record: GitRecord | undefined): Promise<GitScope> {
    const { repositories, folder } = options;
    const isKept = record !== undefined && repositories.every(({ worktree }) => record.bases.has(worktree));
    if (!isKept) await rm(folder, { recursive: true, force: true });
    const members: Member[] = [];
    for (const [number, repository] of repositories.entries()) {
      const git = options.gitFor(repository);
      const own = join(folder, String(number));
      const base = isKept ? record.bases.get(repository.worktree) : undefined;
      const privateDir =
        base === undefined
          ? await makePrivateGitDir(git, repository, {
              folder: own,
              declinedBelow: declinedBelow(options.id),
              number,
            })
          : {
              repository,
              base,
              folder: own,
              mounts: await findMounts(git, repository, { folder: own, number }),
            };
      members.push({ git, number, privateDir, isNew: base === undefined });
    }
    const scope = new GitScope(options, members, isKept ? record.declined : undefined);
    await scope.#save();
    return scope;
  }

  get repositories(): readonly Repository[] {
    return this.#members.map(({ privateDir }) => privateDir.repository);
  }

  /** Those of a submodule come after the workspace's own. */
  get mounts(): readonly Mount[] {
    return [...this.#members].reverse().flatMap(({ privateDir }) => privateDir.mounts);
  }

  /** Lets the git directories follow what the user did since. Only unused ones are made again if nothing is in them. */
  async follow(isUsed: boolean): Promise<void> {
    for (const member of this.#members) await this.#follow(member, isUsed);
    await this.#save();
  }

  /**
   * Receives what was committed, for the user to decide about; undefined if there is nothing that was not declined. If the
   * user's repositories are what they were when they were last followed, they are not read again.
   */
  async offer(isUnchanged: boolean): Promise<CommitOffer | undefined> {
    const all: Waiting[] = [];
    try {
      for (const member of this.#members) {
        const takeOver = await this.#takeOver(member);
        const { base } = member.privateDir;
        const isKnown = isUnchanged && member.isNew && this.#declined === undefined && base.kept?.size === 0;
        all.push({ member, takeOver, pending: await takeOver.pending(isKnown ? base : undefined) });
      }
      return await this.#offerOf(all.filter(({ pending }) => hasChanges(pending.incoming)));
    } finally {
      for (const { pending } of all) pending.close();
    }
  }

  /** Reports whether work would be lost without the git directories. */
  async hasWork(): Promise<boolean> {
    for (const member of this.#members) {
      const takeOver = await this.#takeOver(member);
      const report = await takeOver.report("whole");
      if (!isPristine(changesSince(member.privateDir.base, report), report)) return true;
    }
    return false;
  }

  async #offerOf(waiting: readonly Waiting[]): Promise<CommitOffer | undefined> {
    const key = keyOf(waiting);
    if (waiting.length === 0 || key === this.#declined) return undefined;
    const blocked = waiting.find(({ pending }) => pending.incoming.unfinished !== undefined);
    if (blocked === undefined) return this.#offer(waiting, key);
    await this.#decline(key);
    return blockedOffer(blocked.pending.incoming.unfinished ?? "");
  }

  async #offer(waiting: readonly Waiting[], key: string): Promise<CommitOffer> {
    const offered: Offered[] = [];
    const refs: OfferedRef[] = [];
    const commands: string[] = [];
    const protectedPaths: string[] = [];
    for (const { member, takeOver, pending } of waiting) {
      const offer = await pending.offer();
      const submodule = this.#submodule(member);
      const shown = offer.refs.map((ref) => (submodule === undefined ? ref : { ...ref, submodule }));
      offered.push({ member, takeOver, offer });
      refs.push(...shown);
      protectedPaths.push(...offer.protectedPaths.map((path) => join(submodule ?? "", path)));
      commands.push(...applyLaterCommands(shown, (name) => takeOver.kept(name)));
    }
    const decline = async () => {
      await this.#decline(key);
      for (const { offer } of offered) await offer.keep();
      return laterNote(commands);
    };
    return {
      ...{ refs, diff: offered.map(({ offer }) => offer.diff).join(""), protectedPaths },
      accept: async () => {
        const { refused, notes } = await this.#accept(offered);
        return refused === undefined ? { notes } : { refused, notes: [...notes, await decline()] };
      },
      decline,
    };
  }

  async #accept(offered: readonly Offered[]): Promise<{ refused?: string; notes: string[] }> {
    const notes: string[] = [];
    for (const { member, takeOver, offer } of offered) {
      const taken = await takeOver.accept(offer.incoming);
      if (taken.status === "refused") return { refused: taken.reason, notes };
      notes.push(...taken.notes);
      const { repository, folder } = member.privateDir;
      const skipped = await copyLfsObjects(join(folder, "git"), repository.commonDir);
      if (skipped > 0)
        notes.push(`${skipped} objects of Git LFS were left out: they are not what they are named.`);
      await this.#rebase(member, offer.incoming);
    }
    this.#declined = undefined;
    await this.#save();
    return { notes };
  }

  /**
   * Makes the taken-over state the base of later changes. The user's own changes meanwhile come with the next
   * command.
   */
  async #rebase(member: Member, incoming: Incoming): Promise<void> {
    const { base, repository } = member.privateDir;
    const refs = new Map(base.refs);
    for (const { name, to } of incoming.refs) {
      if (to === undefined) refs.delete(name);
      else refs.set(name, to);
    }
    const stash = [...base.stash, ...incoming.stash.map(({ id }) => id)];
    const next = {
      ...base,
      refs,
      stash,
      head: incoming.head ?? base.head,
      indexVersion: await indexVersion(repository.gitDir),
    };
    member.privateDir = { ...member.privateDir, base: next };
    member.isNew = false;
  }

  async #follow(member: Member, isUsed: boolean): Promise<void> {
    const { git, number, privateDir } = member;
    const { repository, base, folder } = privateDir;
    const kept = declinedBelow(this.#options.id);
    member.isNew = false;
    const takeOver = await this.#takeOver(member);
    const report = await takeOver.report("whole");
    if (!isUsed && isPristine(changesSince(base, report), report)) {
      const config = await ownConfig(privateDir);
      await rm(folder, { recursive: true, force: true });
      member.privateDir = await makePrivateGitDir(git, repository, {
        folder,
        declinedBelow: kept,
        number,
        config,
      });
      member.isNew = true;
      return;
    }
    const user = await readState(git, repository);
    const plan = planFollow(base, report, user, await isIncluded(git, report, user));
    if (plan.command !== undefined) {
      const confined = await this.#confined(member);
      // If it fails, the agent has seen to that; what it sees stays as it was, and so does the base.
      if ((await confined.run(plan.command, plan.input)).exitCode !== 0) return;
    }
    member.privateDir = { ...privateDir, base: plan.base };
  }

  async #takeOver(member: Member): Promise<GitTakeOver> {
    return new GitTakeOver(
      member.git,
      member.privateDir,
      await this.#confined(member),
      declinedBelow(this.#options.id),
    );
  }

  #confined({ privateDir }: Member): Promise<ConfinedGit> {
    return this.#options.confined(privateDir.repository.worktree, this.mounts);
  }

  #submodule({ privateDir }: Member): string | undefined {
    const top = this.#members.at(-1)?.privateDir.repository.worktree ?? "";
    const path = relative(top, privateDir.repository.worktree);
    return path === "" ? undefined : path;
  }

  async #decline(key: string): Promise<void> {
    this.#declined = key;
    await this.#save();
  }

  async #save(): Promise<void> {
    const { folder } = this.#options;
    const privateDirs = this.#members.map(({ privateDir }) => privateDir);
    await saveRecord(folder, privateDirs, this.#declined);
  }
}

/**
 * Reports whether the user's HEAD is a later commit than that of the agent, and not a branch that the agent
 * could move.
 */
async function isIncluded(
  git: GitCommand,
  { head, refs }: Pick<Report, "head" | "refs">,
  user: Pick<RepositoryState, "head">,
): Promise<boolean> {
  if (head === undefined || user.head.kind !== "detached") return false;
  const own = headCommit({ head, refs });
  if (own === undefined || own === user.head.commit) return false;
  const included = await git.attempt(["merge-base", "--is-ancestor", own, user.head.commit]);
  return included.exitCode === 0;
}

const MAX_CONFIG = 1024 * 1024;

/** The configuration in the directory, if the agent has changed it. It is only ever used inside. */
async function ownConfig({ folder }: PrivateGitDir): Promise<string | undefined> {
  const files = [join(folder, "config"), join(folder, "git", "config")];
  // A link could lead to a file that the agent cannot read.
  const [first, now] = await Promise.all(files.map((path) => readTextNoFollow(path, MAX_CONFIG)));
  return now === first ? undefined : now;
}

function hasChanges(incoming: Incoming): boolean {
  return !isEmpty(incoming) || incoming.unfinished !== undefined;
}

/** The same for the same commits. */
function keyOf(waiting: readonly Waiting[]): string {
  const parts = waiting.map(({ member, pending }) => {
    const { refs, head, stash, unfinished } = pending.incoming;
    const moved = refs.map(({ name, to }) => [name, to]);
    return [member.privateDir.repository.worktree, moved, head, stash.map(({ id }) => id), unfinished];
  });
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

function blockedOffer(operation: string): CommitOffer {
  const blocked = `a ${operation} is not finished in the agent's copy of .git`;
  const nothing = { refused: blocked, notes: [] };
  return {
    refs: [],
    diff: "",
    protectedPaths: [],
    blocked,
    accept: async () => nothing,
    decline: async () => blocked,
  };
}

function laterNote(commands: readonly string[]): string {
  const shown = commands.slice(0, 5).join("\n");
  return shown === "" ? "" : `To apply them later:\n${shown}`;
}
