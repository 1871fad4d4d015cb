import { join } from "node:path";
import type { Clock, CommitOffer, LaunchSpec, ProcessSpec } from "@flint/core/ports";
import { type ConfinedPolicy, errorMessage, FlintError, hostsOf, isPathIn } from "@flint/protocol";
import { GitScopes, type GitScopesOptions } from "../git/git-scopes.ts";
import type { RefusedHost } from "../network/connection-log.ts";
import { type NamespaceTools, NetworkNamespace } from "../network/namespace.ts";
import { NetworkScopes, type NetworkScopesOptions, type ScopedNetwork } from "../network/network-scopes.ts";
import { type Mount, maskedFolders } from "./mechanisms/confinement.ts";
import { type Mechanism, SYSTEM_PATH } from "./mechanisms/launch.ts";
import { findProgram } from "./processes/program.ts";
import { cannotLoadFilter, NO_FILTER } from "./refusals.ts";

/** The resources that the commands of a scope share in addition to what their policy allows. */
export interface ScopeLease {
  readonly mounts: readonly Mount[];
  /** The arguments before the sandbox's own command line that run it in the network of the scope. */
  readonly enter: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** True if the command keeps the network that it is started in. */
  readonly keepsNetwork: boolean;
  /** A file with a seccomp filter. */
  readonly filterFile?: string | undefined;
  /** Returns the hosts that were refused to the command so far. */
  refused(): readonly RefusedHost[];
  release(): void;
}

/** Dependencies of scopes. */
export interface SandboxScopesOptions extends Omit<GitScopesOptions, "folder">, NetworkScopesOptions {}

type Request = Pick<LaunchSpec, "scope" | "workspace" | "itemId" | "command" | "permission"> &
  Pick<ProcessSpec, "hosts">;

/**
 * The networks and git directories of scopes. Where no network is available, commands have none, and an agent is
 * refused, because it would have to keep the network of the machine.
 */
export class SandboxScopes {
  readonly #git: GitScopes;
  readonly #network: NetworkScopes;
  readonly #networkFolder: string;
  readonly #clock: Clock;
  #nsenter: Promise<string | undefined> | undefined;

  constructor({ folder, environment, confined, ...network }: SandboxScopesOptions) {
    this.#git = new GitScopes({ folder: join(folder, "git"), environment, confined });
    this.#networkFolder = join(folder, "network");
    this.#network = new NetworkScopes({ ...network, folder: this.#networkFolder });
    this.#clock = network.clock;
  }

  /** Prepares what a command of a scope shares with the others, until it is released. */
  async acquire(
    request: Request,
    policy: ConfinedPolicy,
    mechanism: Mechanism,
    environment: Readonly<Record<string, string>>,
  ): Promise<ScopeLease> {
    const filterFile = await this.filter(mechanism);
    if (filterFile === undefined && !hasWholeNetwork(request, policy))
      throw cannotLoadFilter(request.command);
    const git = filterFile === undefined ? NO_GIT : await this.#acquireGit(request, policy);
    // If no network is available, nothing is left behind.
    try {
      const network = await this.#openNetwork(mechanism, request, policy, environment);
      return {
        mounts: [...git.mounts, ...(network === undefined ? [] : await this.#shownPrograms())],
        filterFile,
        enter: network?.enter ?? [],
        environment: network?.environment ?? {},
        keepsNetwork: network !== undefined || request.permission?.network === "all",
        refused: () => network?.refused() ?? [],
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

  /** A file with the seccomp filter of everything confined; undefined if the mechanism or the processor has none. */
  async filter(mechanism: Mechanism): Promise<string | undefined> {
    return mechanism.loadsFilter ? this.#network.filter() : undefined;
  }

  /** Returns the limitations of a mechanism on this machine, as sentences. Leaves nothing behind. */
  async limitations(mechanism: Mechanism): Promise<string[]> {
    const tools = await this.#tools(mechanism);
    const problem = tools === undefined ? NO_NSENTER : await NetworkNamespace.problem(tools, this.#clock);
    const hasFilter = (await this.filter(mechanism)) !== undefined;
    return [
      ...(problem === undefined
        ? []
        : [`Commands cannot be given single hosts (${problem}). ${WITHOUT_NETWORK}`]),
      ...(hasFilter ? [] : [UNFILTERED]),
    ];
  }

  /** Returns the commits that were made in a scope; undefined if there is nothing to take over. */
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
    return masks.some((mask) => isPathIn(source, mask)) ? [{ source, target: source, writable: false }] : [];
  }

  /** Only where the workspace can be written. */
  async #acquireGit({ scope, workspace }: Request, { type }: ConfinedPolicy) {
    if (scope?.privateGit !== true || type !== "workspaceWrite") return NO_GIT;
    return this.#git.acquire(scope.id, workspace);
  }

  /** Undefined for a command that may use the whole network, or none, or that belongs to no scope. */
  async #openNetwork(
    mechanism: Mechanism,
    request: Request,
    policy: ConfinedPolicy,
    environment: Readonly<Record<string, string>>,
  ): Promise<ScopedNetwork | undefined> {
    const { scope, hosts, itemId } = request;
    const { permission = {} } = request;
    if (hasWholeNetwork(request, policy)) return undefined;
    if (scope?.decide === undefined && hosts === undefined) return undefined;
    // Expected: the kernel refuses one of the steps. A command then has no network at all.
    try {
      const tools = await this.#tools(mechanism);
      if (scope === undefined) throw new FlintError("sandboxUnavailable", "It belongs to no thread.");
      if (tools === undefined) throw new FlintError("sandboxUnavailable", `${capitalized(NO_NSENTER)}.`);
      return await this.#network.open(tools, {
        scope,
        hosts: [...(hosts ?? []), ...hostsOf(permission)],
        itemId,
        environment,
      });
    } catch (thrown) {
      if (hosts !== undefined) throw refusedAgent(request, thrown);
      return undefined;
    }
  }

  async #tools(mechanism: Mechanism): Promise<NamespaceTools | undefined> {
    this.#nsenter ??= findProgram("nsenter", SYSTEM_PATH);
    const nsenter = await this.#nsenter;
    return nsenter === undefined
      ? undefined
      : { holder: mechanism.networkHolder, nsenter, node: process.execPath };
  }
}

const NO_GIT = { mounts: [], release: () => undefined };

const NO_NSENTER = "the program nsenter of util-linux is missing";

const UNFILTERED = `${NO_FILTER} Agents cannot commit then.`;

const WITHOUT_NETWORK =
  "They have no network at all, and agents other than Flint's own do not start. Install bubblewrap (apt-get install bubblewrap), or choose --network all.";

/** An agent has to reach its model, and must not do so with everything that it runs on the network of the machine. */
function refusedAgent({ command: [program = ""] }: Request, cause: unknown): FlintError {
  const reason = errorMessage(cause);
  const message = `Did not start ${program}: its sandbox cannot limit the network here. ${reason} Install bubblewrap (apt-get install bubblewrap), or choose --network all, which leaves the network open, or --sandbox danger-full-access (dangerFullAccess).`;
  return new FlintError("sandboxUnavailable", message, { command: program }, { cause });
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Reports whether nothing limits the network of a command. */
function hasWholeNetwork({ permission }: Pick<Request, "permission">, policy: ConfinedPolicy): boolean {
  const isOpen = policy.type === "workspaceWrite" && policy.networkAccess === true;
  return isOpen || permission?.network === "all";
}

/**
 * Reports whether nothing filters connections: an agent has to reach its model, and a command may have been
 * allowed every host.
 */
export function keepsMachineNetwork({ hosts, permission }: Pick<Request, "hosts" | "permission">): boolean {
  return hosts !== undefined || permission?.network === "all";
}

/** Nothing is shared; an agent keeps the network of the machine. Only for a sandbox that is made without scopes. */
export function noScopes(keepsNetwork: boolean): ScopeLease {
  return {
    mounts: [],
    enter: [],
    environment: {},
    keepsNetwork,
    refused: () => [],
    release: () => undefined,
  };
}
