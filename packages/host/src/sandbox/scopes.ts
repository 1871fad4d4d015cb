import { join } from "node:path";
import type { Clock, CommitOffer, LaunchSpec, ProcessSpec } from "@flint/core/ports";
import type { ConfinedPolicy } from "@flint/protocol";
import { GitScopes, type GitScopesOptions } from "../git/git-scopes.ts";
import type { NamespaceTools } from "../network/namespace.ts";
import { NetworkScopes } from "../network/network-scopes.ts";
import { isInside } from "./mechanisms/binds.ts";
import { Bubblewrap } from "./mechanisms/bubblewrap.ts";
import { type Mount, maskedFolders } from "./mechanisms/confinement.ts";
import { type Mechanism, SYSTEM_PATH } from "./mechanisms/launch.ts";
import { findProgram } from "./processes/program.ts";

/** What the commands of a scope share in addition to what their policy allows. */
export interface ScopeLease {
  readonly mounts: readonly Mount[];
  /** What goes before the sandbox's own command line, to run it in the network of the scope. */
  readonly enter: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the command keeps the network that it is started in. */
  readonly keepsNetwork: boolean;
  /** A file with a seccomp filter. */
  readonly filterFile?: string | undefined;
  release(): void;
}

/** What scopes are made with. */
export interface SandboxScopesOptions extends Omit<GitScopesOptions, "folder"> {
  /** A folder of Flint's state. */
  readonly folder: string;
  readonly clock: Clock;
}

type Request = Pick<LaunchSpec, "scope" | "workspace"> & Pick<ProcessSpec, "hosts">;

/**
 * The networks and git directories of scopes. Networks need bubblewrap: with another mechanism commands have none, and
 * agents keep the network of the machine.
 */
export class SandboxScopes {
  readonly #git: GitScopes;
  readonly #network: NetworkScopes;
  readonly #networkFolder: string;
  #nsenter: Promise<string | undefined> | undefined;

  constructor({ folder, clock, environment, confined }: SandboxScopesOptions) {
    this.#git = new GitScopes({ folder: join(folder, "git"), environment, confined });
    this.#networkFolder = join(folder, "network");
    this.#network = new NetworkScopes({ folder: this.#networkFolder, clock });
  }

  /** Prepares what a command of a scope shares with the others, until it is released. */
  async acquire(
    request: Request,
    policy: ConfinedPolicy,
    mechanism: Mechanism,
    environment: Readonly<Record<string, string>>,
  ): Promise<ScopeLease> {
    const filterFile = mechanism instanceof Bubblewrap ? await this.#network.filter() : undefined;
    const git = await this.#acquireGit(request, policy);
    if (!(mechanism instanceof Bubblewrap)) return { ...unscoped(request.hosts !== undefined), ...git };
    // If there is no network to be had, nothing is left behind.
    try {
      const network = await this.#openNetwork(mechanism, request, policy, environment);
      return {
        mounts: [...git.mounts, ...(network === undefined ? [] : await this.#shownPrograms())],
        filterFile,
        enter: network?.enter ?? [],
        environment: network?.environment ?? {},
        keepsNetwork: network !== undefined || request.hosts !== undefined,
        release: () => {
          git.release();
          network?.release();
        },
      };
    } catch (thrown) {
      git.release();
      throw thrown;
    }
  }

  /** What was committed in a scope; undefined if there is nothing to take over. */
  commits(scopeId: string): Promise<CommitOffer | undefined> {
    return this.#git.commits(scopeId);
  }

  /** Lets the git directories of a scope follow what the user committed since. Never rejects. */
  refresh(scopeId: string): Promise<void> {
    return this.#git.refresh(scopeId);
  }

  /** Removes the network and the git directory of a scope. */
  async close(scopeId: string): Promise<void> {
    await Promise.all([this.#git.close(scopeId), this.#network.close(scopeId)]);
  }

  /** The programs that Node loads in the network of a scope, where a sandbox masks the folder that they are in. */
  async #shownPrograms(): Promise<Mount[]> {
    const masks = await maskedFolders();
    const source = this.#networkFolder;
    return masks.some((mask) => isInside(source, mask)) ? [{ source, target: source, writable: false }] : [];
  }

  /** Only where the workspace can be written. */
  async #acquireGit({ scope, workspace }: Request, { type }: ConfinedPolicy) {
    if (scope?.privateGit !== true || type !== "workspaceWrite") return NO_GIT;
    return this.#git.acquire(scope.id, workspace);
  }

  /** Undefined for a command that may use the whole network, or none, or that belongs to no scope. */
  async #openNetwork(
    { program: bwrap }: Bubblewrap,
    { scope, hosts = [] }: Request,
    policy: ConfinedPolicy,
    environment: Readonly<Record<string, string>>,
  ) {
    const isOpen = policy.type === "workspaceWrite" && policy.networkAccess === true;
    if (scope?.decide === undefined || isOpen) return undefined;
    this.#nsenter ??= findProgram("nsenter", SYSTEM_PATH);
    const nsenter = await this.#nsenter;
    if (nsenter === undefined) return undefined;
    const tools: NamespaceTools = { bwrap, nsenter, node: process.execPath };
    return this.#network.open(tools, scope, hosts, environment);
  }
}

const NO_GIT = { mounts: [], release: () => undefined };

/** Nothing is shared; an agent keeps the network of the machine, because it has to reach its model. */
export function unscoped(keepsNetwork: boolean): ScopeLease {
  return { mounts: [], enter: [], environment: {}, keepsNetwork, release: () => undefined };
}
