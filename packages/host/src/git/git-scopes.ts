import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { CommitOffer, OfferedRef } from "@flint/core/ports";
import type { Mount } from "../sandbox/mechanisms/confinement.ts";
import { GitCommand } from "./git-command.ts";
import type { Incoming, RefChange } from "./incoming.ts";
import { makePrivateGitDir, type PrivateGitDir } from "./private-git-dir.ts";
import { findRepository, type Repository, readState } from "./repository.ts";
import { type ConfinedGit, GitTakeOver } from "./take-over.ts";

/** What the git directories of scopes are made with. */
export interface GitScopesOptions {
  /** Where they are kept. Not readable in any sandbox but as a mount. */
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Runs commands in a sandbox in which nothing but the private git directory can be written. */
  confined(worktree: string, mounts: readonly Mount[]): Promise<ConfinedGit>;
}

/** The mounts of a private git directory, in use until they are released. */
export interface GitLease {
  readonly mounts: readonly Mount[];
  release(): void;
}

interface Scope {
  readonly git: GitCommand;
  readonly folder: string;
  privateDir: PrivateGitDir;
  /** What the user's repository looked like from outside when the directory was made. */
  fingerprint: string;
  users: number;
}

const NO_MOUNTS: GitLease = { mounts: [], release: () => undefined };

/** The private git directories of scopes: each is made when a command is first started in a repository. */
export class GitScopes {
  readonly #options: GitScopesOptions;
  readonly #scopes = new Map<string, Promise<Scope | undefined>>();

  constructor(options: GitScopesOptions) {
    this.#options = options;
  }

  /** The mounts for a command in this workspace; none if it is not the worktree of a repository. */
  async acquire(id: string, workspace: string): Promise<GitLease> {
    const opened = this.#scopes.get(id) ?? this.#open(id, workspace);
    this.#scopes.set(id, opened);
    const scope = await opened;
    if (scope === undefined) return NO_MOUNTS;
    if (scope.users === 0) await this.#refresh(scope);
    scope.users += 1;
    return {
      mounts: scope.privateDir.mounts,
      release: () => {
        scope.users -= 1;
      },
    };
  }

  /** Fetches what was committed in a scope, for the user to decide about; undefined if nothing was. */
  async commits(id: string): Promise<CommitOffer | undefined> {
    const scope = await this.#scopes.get(id);
    if (scope === undefined) return undefined;
    const takeOver = await this.#takeOver(id, scope);
    const incoming = await takeOver.incoming();
    if (incoming === undefined) return undefined;
    const { refs, diff } = await takeOver.offer(incoming);
    return {
      refs: refs.map(({ name, commits, total, ...change }): OfferedRef => {
        return { name, commits, total, change: kindOf(change) };
      }),
      diff,
      accept: () => this.#accept(scope, takeOver, incoming),
    };
  }

  /** Removes the git directory of a scope. */
  async close(id: string): Promise<void> {
    const scope = await this.#scopes.get(id);
    this.#scopes.delete(id);
    if (scope !== undefined) await rm(scope.folder, { recursive: true, force: true });
  }

  async #open(id: string, workspace: string): Promise<Scope | undefined> {
    const git = new GitCommand(workspace, this.#options.environment);
    const repository = await findRepository(git, workspace);
    if (repository === undefined) return undefined;
    const folder = join(this.#options.folder, id);
    const fingerprint = await fingerprintOf(repository);
    await rm(folder, { recursive: true, force: true });
    const privateDir = await makePrivateGitDir(git, repository, folder);
    return { git, folder, privateDir, fingerprint, users: 0 };
  }

  /** Makes the directory again if the user's repository has changed and nothing in it is left to take over. */
  async #refresh(scope: Scope): Promise<void> {
    const { git, folder, privateDir } = scope;
    const fingerprint = await fingerprintOf(privateDir.repository);
    if (fingerprint === scope.fingerprint) return;
    const takeOver = await this.#takeOver("refresh", scope);
    if ((await takeOver.incoming()) !== undefined) return;
    await rm(folder, { recursive: true, force: true });
    scope.privateDir = await makePrivateGitDir(git, privateDir.repository, folder);
    scope.fingerprint = fingerprint;
  }

  async #takeOver(id: string, { git, privateDir }: Scope): Promise<GitTakeOver> {
    const { worktree } = privateDir.repository;
    const confined = await this.#options.confined(worktree, privateDir.mounts);
    return new GitTakeOver(git, privateDir, confined, id);
  }

  async #accept(scope: Scope, takeOver: GitTakeOver, incoming: Incoming) {
    const taken = await takeOver.accept(incoming);
    if (taken.status === "refused") return { refused: taken.reason, notes: [] };
    const { repository } = scope.privateDir;
    scope.privateDir = { ...scope.privateDir, base: await readState(scope.git, repository) };
    return { notes: taken.notes };
  }
}

function kindOf({ from, to }: Pick<RefChange, "from" | "to">): OfferedRef["change"] {
  if (to === undefined) return "deleted";
  return from === undefined ? "created" : "updated";
}

/** Differs after anything that changes HEAD, a branch or the index, at the cost of a few `stat` calls. */
async function fingerprintOf({ gitDir, commonDir }: Repository): Promise<string> {
  const files = [
    ...["HEAD", "index", "logs/HEAD"].map((name) => join(gitDir, name)),
    ...["packed-refs", "refs/heads", "refs/tags", "refs/remotes", "config"].map((name) =>
      join(commonDir, name),
    ),
  ];
  const times = await Promise.all(
    files.map((file) =>
      stat(file).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  );
  return times.join(" ");
}
