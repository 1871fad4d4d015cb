import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { SerialQueue } from "@flint/core/async";
import type { CommitOffer } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import type { Mount } from "../sandbox/mechanisms/confinement.ts";
import type { ConfinedGit } from "./confined-git.ts";
import { GitCommand } from "./git-command.ts";
import { loadRecord } from "./git-record.ts";
import { GitScope } from "./git-scope.ts";
import { findRepository, findSubmodules, type Repository } from "./repository.ts";

/** Dependencies of the git directories of all scopes. */
export interface GitScopesOptions {
  /** The folder in which they are kept. Not readable in any sandbox but as a mount. */
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

interface OpenScope {
  readonly scope: GitScope;
  /** Fingerprint of the user's repositories when the scope last followed them. */
  fingerprint: string;
  users: number;
}

const NO_MOUNTS: GitLease = { mounts: [], release: () => undefined };

/** Time for which the git directory of a closed thread is kept for unmerged work in it. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** The private git directories of scopes: each is made when a command is first started in a repository. */
export class GitScopes {
  readonly #options: GitScopesOptions;
  readonly #scopes = new Map<string, Promise<OpenScope | undefined>>();
  readonly #queues = new Map<string, SerialQueue>();
  #cleaned: Promise<void> | undefined;

  constructor(options: GitScopesOptions) {
    this.#options = options;
  }

  /** The mounts for a command in this workspace; none if it is not the worktree of a repository. */
  async acquire(id: string, workspace: string): Promise<GitLease> {
    return this.#inTurn(id, async () => {
      this.#cleaned ??= this.#clean();
      await this.#cleaned;
      const opened = this.#scopes.get(id) ?? this.#open(id, workspace);
      this.#scopes.set(id, opened);
      const found = await opened.catch((error: unknown) => {
        this.#scopes.delete(id);
        throw error;
      });
      if (found === undefined) return NO_MOUNTS;
      await follow(found);
      found.users += 1;
      const release = () => {
        found.users -= 1;
      };
      return { mounts: found.scope.mounts, release };
    });
  }

  /** Lets the git directories of a scope follow what the user committed since. Never rejects. */
  async refresh(id: string): Promise<void> {
    await this.#inTurn(id, async () => {
      const found = await this.#scopes.get(id);
      if (found !== undefined) await follow(found);
    }).catch(() => undefined);
  }

  /** Fetches what was committed in a scope, for the user to decide about; undefined if nothing was. */
  async commits(id: string): Promise<CommitOffer | undefined> {
    const offer = await this.#inTurn(id, async () => {
      const found = await this.#scopes.get(id);
      return found?.scope.offer(await isUnchanged(found));
    });
    if (offer === undefined) return undefined;
    return {
      ...offer,
      accept: () => this.#inTurn(id, () => offer.accept()),
      decline: () => this.#inTurn(id, () => offer.decline()),
    };
  }

  /** Forgets a scope. Its git directories stay if there is something in them that was not taken over. */
  async close(id: string): Promise<void> {
    await this.#inTurn(id, async () => {
      const found = await this.#scopes.get(id)?.catch(() => undefined);
      this.#scopes.delete(id);
      // If it cannot be said, nothing is removed.
      if (found !== undefined && !(await found.scope.hasWork().catch(() => true)))
        await rm(this.#folder(id), { recursive: true, force: true });
    });
    this.#queues.delete(id);
  }

  async #open(id: string, workspace: string): Promise<OpenScope | undefined> {
    const gitIn = (folder: string) => new GitCommand(folder, this.#options.environment);
    const top = await findRepository(gitIn(workspace), workspace);
    if (top === undefined) return undefined;
    const repositories = [...(await findSubmodules(top, gitIn)), top];
    const folder = this.#folder(id);
    const [record, fingerprint] = await Promise.all([loadRecord(folder), fingerprintOf(repositories)]);
    const scope = await GitScope.open(
      {
        ...{ id, folder, repositories, confined: this.#options.confined },
        gitFor: (repository) => gitIn(repository.worktree).in(repository),
      },
      record,
    );
    // The kept state may be older than the user's own.
    return { scope, fingerprint: record === undefined ? fingerprint : "", users: 0 };
  }

  #inTurn<Value>(id: string, task: () => Promise<Value>): Promise<Value> {
    const queue = this.#queues.get(id) ?? new SerialQueue();
    this.#queues.set(id, queue);
    return queue.run(task);
  }

  /** The id becomes a part of paths and of refs. */
  #folder(id: string): string {
    if (!/^[A-Za-z0-9_-]{1,100}$/.test(id))
      throw new FlintError("invalidParams", `"${id}" cannot name a git directory.`);
    return join(this.#options.folder, id);
  }

  /** Removes what threads left behind that have not been used for long. */
  async #clean(): Promise<void> {
    const { folder } = this.#options;
    for (const name of await readdir(folder).catch((): string[] => [])) {
      const found = await stat(join(folder, name, "record.json")).catch(() => undefined);
      const isOld = found === undefined || Date.now() - found.mtimeMs > KEPT_MS;
      if (isOld) await rm(join(folder, name), { recursive: true, force: true });
    }
  }
}

async function follow(opened: OpenScope): Promise<void> {
  const fingerprint = await fingerprintOf(opened.scope.repositories);
  if (fingerprint === opened.fingerprint) return;
  opened.fingerprint = fingerprint;
  // Expected: the agent has broken its own copy of .git, and continues with that.
  await opened.scope.follow(opened.users > 0).catch(() => undefined);
}

/** Reports whether the user's repositories are as they were when the scope last followed them. */
async function isUnchanged({ scope, fingerprint }: OpenScope): Promise<boolean> {
  return (await fingerprintOf(scope.repositories)) === fingerprint;
}

/** Maximum number of folders of refs that are read. */
const MAX_FOLDERS = 200;

/** Differs after anything that changes HEAD, a ref, the index or the configuration, at the cost of some `stat` calls. */
async function fingerprintOf(repositories: readonly Repository[]): Promise<string> {
  const files: string[] = [];
  for (const { gitDir, commonDir } of repositories) {
    files.push(...["HEAD", "index", "logs/HEAD"].map((name) => join(gitDir, name)));
    const shared = ["packed-refs", "config", "refs/stash", "logs/refs/stash", "reftable/tables.list"];
    files.push(...shared.map((name) => join(commonDir, name)));
    files.push(
      ...(await foldersBelow(["heads", "tags", "remotes"].map((name) => join(commonDir, "refs", name)))),
    );
  }
  const times = await Promise.all(
    files.map((file) =>
      stat(file).then(
        ({ mtimeMs, size, ino }) => `${mtimeMs} ${size} ${ino}`,
        () => "",
      ),
    ),
  );
  return times.join(",");
}

/** A ref that is written is a file that is renamed, which changes its folder. */
async function foldersBelow(folders: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const left = [...folders];
  for (let folder = left.shift(); folder !== undefined && found.length < MAX_FOLDERS; folder = left.shift()) {
    found.push(folder);
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) if (entry.isDirectory()) left.push(join(folder, entry.name));
  }
  return found;
}
