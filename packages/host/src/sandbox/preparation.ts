import { homedir } from "node:os";
import { isAbsolute } from "node:path";
import type { Clock, Denial, LaunchSpec, ProcessSpec } from "@flint/core/ports";
import { type ConfinedPolicy, hostsOf, isUnconfined } from "@flint/protocol";
import { type ConfinedGit, ConfinedProcess } from "../git/confined-git.ts";
import { gitEnvironment } from "../git/git-command.ts";
import { UnixCommandBroker } from "./broker/command-broker.ts";
import { denialsOf, type EndedConfinedCommand, refusedConnection } from "./denials/denials.ts";
import { type Confinement, confine, type Mount, type ProtectedPathSet } from "./mechanisms/confinement.ts";
import { FILTER_DESCRIPTOR, retryStart, splitVariables } from "./mechanisms/launch.ts";
import type { MechanismSearch } from "./mechanisms/mechanism-search.ts";
import { createGranted } from "./paths/granted-folders.ts";
import type { GuardedPaths } from "./paths/guarded-paths.ts";
import type { ProtectedPaths } from "./paths/protected-paths.ts";
import type { PrivateFolders } from "./private-folders.ts";
import type { RunSpec } from "./processes/process-tree.ts";
import { runToEnd } from "./processes/run-to-end.ts";
import { cannotFilter, cannotLoadFilter, MAX_SOCKETS, tooManySockets, unavailable } from "./refusals.ts";
import { keepsMachineNetwork, noScopes, type SandboxScopes, type ScopeLease } from "./scopes.ts";

/** Environment variables by name. */
export type Variables = Readonly<Record<string, string>>;

/** A command or program to start. */
export type StartRequest = Pick<
  LaunchSpec,
  "command" | "cwd" | "policy" | "workspace" | "itemId" | "permission"
> &
  Omit<Partial<ProcessSpec>, "environment"> & {
    readonly environment?: Variables | undefined;
    /** True if all of its arguments come from the user. */
    readonly isProgram?: boolean;
  };

/** A program to start, and the clean-up for when none of its processes is left. */
export interface Prepared {
  readonly run: RunSpec;
  /** True if it mounts paths of other programs, which may vanish before they are mounted. */
  readonly mayVanish: boolean;
  /** Returns what its sandbox denied it, once it has ended. */
  denials(exitCode: number, output: string): Promise<readonly Denial[]>;
  release(): Promise<void>;
}

/** Dependencies for preparing commands. */
export interface PreparationOptions {
  readonly environment: Variables;
  readonly clock: Clock;
  readonly search: MechanismSearch;
  readonly protectedPaths: ProtectedPaths;
  readonly guardedPaths: GuardedPaths;
  readonly privateFolders: PrivateFolders;
  /** Flint's own files, which stay out of reach whatever is granted. */
  readonly locked: readonly string[];
}

/** Turns commands and their policies into command lines, and acquires what they need until they have ended. */
export class Preparation {
  readonly #options: PreparationOptions;

  constructor(options: PreparationOptions) {
    this.#options = options;
  }

  /** Prepares a command; the scopes are those of its sandbox, if it has any. */
  async prepare(request: StartRequest, scopes: SandboxScopes | undefined): Promise<Prepared> {
    const { policy, permission = {} } = request;
    const runsUnconfined = isUnconfined(policy) || permission.unconfined === true;
    return runsUnconfined ? this.#prepareUnconfined(request) : this.#prepareConfined(request, policy, scopes);
  }

  /** Runs git in a sandbox without network in which nothing but the mounts can be written, with the filter of the scopes. */
  async confinedGit(
    worktree: string,
    mounts: readonly Mount[],
    scopes: SandboxScopes | undefined,
  ): Promise<ConfinedGit> {
    const { mechanism } = await this.#options.search.mechanism([worktree]);
    const spec = { command: ["git"], cwd: worktree, workspace: worktree, policy: READ_ONLY };
    if (mechanism === undefined) throw unavailable(spec.command, READ_ONLY, []);
    const filterFile = await scopes?.filter(mechanism);
    if (scopes !== undefined && filterFile === undefined) throw cannotLoadFilter(spec.command);
    const filter = filterFile === undefined ? "" : ` ${FILTER_DESCRIPTOR}<"$0"`;
    // The first process writes an empty line when everything is set up.
    const wrap = async (command: readonly string[]) => {
      const { confinement } = await this.#confine(spec, READ_ONLY, {
        ...noScopes(false),
        mounts,
        filterFile,
      });
      const descriptors = ["/bin/sh", "-c", `exec 3>&1 4>&2${filter}; exec "$@"`, filterFile ?? "sh"];
      return [...descriptors, ...mechanism.launchArguments([...prefix, ...command], confinement)];
    };
    const { outer, prefix } = splitVariables(gitEnvironment(this.#options.environment));
    const options = { cwd: "/", env: outer, timeoutMs: GIT_TIMEOUT_MS };
    const run = async (command: readonly string[], input?: string) => {
      const result = await runToEnd(await wrap(command), { ...options, input });
      return result.stdout.startsWith("\n") ? { ...result, stdout: result.stdout.slice(1) } : undefined;
    };
    const start = async (command: readonly string[]) => {
      const started = new ConfinedProcess(await wrap(command), options);
      if ((await started.readUntil("")) === "") return started;
      started.close();
      return undefined;
    };
    const setUp = <Value>(attempt: () => Promise<Value | undefined>) =>
      retryStart(async (isLast) => {
        const value = await attempt();
        if (value === undefined && isLast) throw unavailable(spec.command, READ_ONLY, []);
        return value;
      });
    return {
      run: (command, input) => setUp(() => run(command, input)),
      start: (command) => setUp(() => start(command)),
    };
  }

  async #prepareUnconfined({ command, cwd, environment: own }: StartRequest): Promise<Prepared> {
    const containment = await this.#options.search.containment();
    const environment = { ...this.#options.environment, PWD: cwd, ...own };
    const run: RunSpec = {
      ...{ argv: containment.launchArguments(command), cwd, containment: containment.kind },
      ...{ environment, clock: this.#options.clock },
    };
    return { run, mayVanish: false, denials: async () => [], release: async () => undefined };
  }

  async #prepareConfined(
    request: StartRequest,
    policy: ConfinedPolicy,
    scopes: SandboxScopes | undefined,
  ): Promise<Prepared> {
    const roots = policy.type === "workspaceWrite" ? (policy.writableRoots ?? []) : [];
    const folders = [request.workspace, ...roots, ...(request.permission?.write ?? [])];
    const { mechanism, failures } = await this.#options.search.mechanism(folders);
    if (mechanism === undefined) throw unavailable(request.command, policy, failures);
    // The user's own temporary folder is not writable inside; /tmp is.
    const { TMPDIR: _, TMP: __, TEMP: ___, ...inherited } = this.#options.environment;
    const given = { ...inherited, ...request.environment };
    const shared =
      (await scopes?.acquire(request, policy, mechanism, given)) ?? noScopes(keepsMachineNetwork(request));
    if (hostsOf(request.permission ?? {}).length > 0 && shared.enter.length === 0) {
      shared.release();
      throw cannotFilter(request.command);
    }
    const { confinement, release } = await this.#confine(request, policy, shared);
    const { outer, prefix } = splitVariables({ ...given, PWD: confinement.cwd, ...shared.environment });
    const command = [...prefix, ...request.command];
    const argv = [...shared.enter, ...mechanism.launchArguments(command, confinement)];
    const { filterFile } = shared;
    const run: RunSpec = {
      argv,
      cwd: "/",
      containment: "namespace",
      environment: outer,
      filterFile,
      clock: this.#options.clock,
    };
    const denials = (exitCode: number, output: string) =>
      this.denials({
        ...request,
        policy,
        exitCode,
        output,
        refused: shared.refused().map(refusedConnection),
        hasOwnNetwork: shared.enter.length > 0,
      });
    return { run, mayVanish: mountsForeignPaths(confinement), denials, release };
  }

  /** Returns what the sandbox denied to a command that has ended. */
  denials(command: Omit<EndedConfinedCommand, "home" | "locked">): Promise<readonly Denial[]> {
    const home = this.#options.environment.HOME ?? homedir();
    return denialsOf({ ...command, home, locked: this.#options.locked });
  }

  async #confine(request: StartRequest, policy: ConfinedPolicy, shared: ScopeLease) {
    const leases: { release(): void | Promise<void> }[] = [shared];
    const release = async () => {
      for (const lease of leases) await lease.release();
    };
    const guard = async (roots: readonly string[], own: readonly string[]): Promise<ProtectedPathSet> => {
      const lease = await this.#options.protectedPaths.acquire(roots);
      leases.push(lease);
      const { paths: locked, pins, sockets } = await this.#options.guardedPaths.within(roots, own);
      return {
        protected: lease.paths,
        locked,
        pins: [...pins, ...lease.pins],
        sockets,
        hidden: await this.#options.guardedPaths.hidden(),
      };
    };
    // If something cannot be protected, what was acquired so far is released.
    try {
      const own = await this.#options.privateFolders.acquire(request.privateFolders);
      leases.push(own);
      const { privateFolders, privateSources } = own;
      // The arguments of a program come from the user; those of a command may come from a model.
      const { command, isProgram = false, broker } = request;
      const trusted = isProgram ? command : command.slice(0, 1);
      const shown = broker instanceof UnixCommandBroker ? [broker.mount] : [];
      const programs = [...trusted, ...shown.map(() => process.execPath)].filter((path) => isAbsolute(path));
      const mounts = [...shared.mounts, ...shown];
      const { keepsNetwork: network } = shared;
      const { write: grantedRoots = [], identities } = request.permission ?? {};
      await createGranted(grantedRoots, identities);
      const requested = {
        ...{ ...request, policy, programs, mounts, network, grantedRoots, identities },
        ...{ privateFolders, privateSources },
      };
      const confinement = await confine(requested, guard);
      if (confinement.sockets.length > MAX_SOCKETS) throw tooManySockets(confinement.sockets);
      const filter = shared.filterFile === undefined ? {} : { filterDescriptor: FILTER_DESCRIPTOR };
      return { confinement: { ...confinement, ...filter }, release };
    } catch (thrown) {
      await release();
      throw thrown;
    }
  }
}

/** Git inside may wait for a pipe of the agent's. */
const GIT_TIMEOUT_MS = 20_000;

const READ_ONLY: ConfinedPolicy = { type: "readOnly" };

/**
 * Reports whether the setup depends on sockets, or on entries of private folders, that other programs remove
 * at any time.
 */
function mountsForeignPaths({ sockets, privates }: Confinement): boolean {
  return sockets.length > 0 || privates.some(({ binds }) => binds.length > 0);
}
