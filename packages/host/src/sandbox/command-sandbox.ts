import { randomBytes } from "node:crypto";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type {
  CommandBroker,
  CommitOffer,
  Denial,
  LaunchResult,
  LaunchSpec,
  ProcessSpec,
  RunningProcess,
  Sandbox,
  WritablePath,
} from "@flint/core/ports";
import { type Clock, SYSTEM_CLOCK } from "@flint/core/ports";
import { commandEnvironment, type Environment } from "@flint/core/redact";
import { type ConfinedPolicy, FlintError, isUnconfined, type SandboxState } from "@flint/protocol";
import { gitEnvironment, runToEnd } from "../git/git-command.ts";
import type { ConfinedGit } from "../git/take-over.ts";
import type { NetworkScopesOptions } from "../network/network-scopes.ts";
import { UnixCommandBroker } from "./broker/command-broker.ts";
import { denialsOf, type EndedCommand, refusedConnection } from "./denials/denials.ts";
import { Bubblewrap } from "./mechanisms/bubblewrap.ts";
import { type Confinement, confine, type Guarded, type Mount } from "./mechanisms/confinement.ts";
import {
  type Containment,
  FILTER_DESCRIPTOR,
  MAX_ATTEMPTS,
  type MechanismName,
  SYSTEM_PATH,
  UMASK_NAME,
} from "./mechanisms/launch.ts";
import { MechanismSearch } from "./mechanisms/mechanism-search.ts";
import { type GuardedLocations, GuardedPaths } from "./paths/guarded-paths.ts";
import { ProtectedPaths } from "./paths/protected-paths.ts";
import { resolveWritable } from "./paths/writable-paths.ts";
import { PrivateFolders } from "./private-folders.ts";
import { CommandRun } from "./processes/command-run.ts";
import { ProcessRun } from "./processes/process-run.ts";
import type { RunSpec } from "./processes/process-tree.ts";
import { startProblem } from "./processes/program.ts";
import { cannotFilter, MAX_SOCKETS, tooManySockets, unavailable, WAY_OUT } from "./refusals.ts";
import { hostsOf, keepsMachineNetwork, SandboxScopes, type ScopeLease, unscoped } from "./scopes.ts";
import { listenerSockets } from "./sockets.ts";

/** The options of a sandbox. */
export interface CommandSandboxOptions {
  /** What commands inherit, without keys and tokens. The sandbox does not read the environment itself. */
  readonly environment: Environment;
  readonly clock?: Clock;
  /** The umask of commands; that of this process if not given. */
  readonly umask?: number;
  /** Flint's own state and settings, which no command can write even in its roots. */
  readonly guarded?: GuardedLocations;
  /** The mechanisms to try, in order; all if not given. */
  readonly mechanisms?: readonly MechanismName[];
  /**
   * Where the networks and git directories of scopes keep their files, and the private folders of programs; without it
   * confined commands have no network but what their policy allows, and cannot change a repository.
   */
  readonly scopeFolder?: string;
  /** Called for each connection of a scope that is held, allowed, refused or fails. */
  readonly onConnection?: NetworkScopesOptions["onEvent"];
  /** Where brokers have their sockets; hidden from everything in a sandbox. Without it there are no brokers. */
  readonly brokerFolder?: string;
  /** The containment of unconfined commands; the best that works on this machine if not given. */
  readonly containment?: Containment["kind"];
}

type Variables = Readonly<Record<string, string>>;

/** A command or program to start. */
type StartRequest = Pick<LaunchSpec, "command" | "cwd" | "policy" | "workspace" | "itemId" | "permission"> &
  Omit<Partial<ProcessSpec>, "environment"> & {
    readonly environment?: Variables | undefined;
    /** Whether all of its arguments come from the user. */
    readonly isProgram?: boolean;
  };

/** What to start, and how to clean up when none of its processes is left. */
interface Prepared {
  readonly run: RunSpec;
  /** Whether it mounts paths of other programs, which may vanish before they are mounted. */
  readonly mayVanish: boolean;
  /** What its sandbox kept it from, once it has ended. */
  denials(exitCode: number, output: string): Promise<readonly Denial[]>;
  release(): Promise<void>;
}

/** Runs commands on Linux, confined by their policy, and leaves no process behind. */
export class CommandSandbox implements Sandbox {
  readonly #environment: Variables;
  readonly #clock: Clock;
  readonly #search: MechanismSearch;
  readonly #protected: ProtectedPaths;
  readonly #guarded: GuardedPaths;
  readonly #scopes: SandboxScopes | undefined;
  readonly #privateFolders: PrivateFolders;
  /** Flint's own files, which stay out of reach whatever is granted. */
  readonly #locked: readonly string[];
  #limitations: Promise<string[]> | undefined;
  readonly #brokerFolder: string | undefined;

  constructor(options: CommandSandboxOptions) {
    const environment = commandEnvironment(options.environment);
    const umask = options.umask ?? process.umask();
    this.#environment = { ...environment, [UMASK_NAME]: umask.toString(8).padStart(3, "0") };
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    const homes = [environment.HOME, environment.ZDOTDIR].filter((folder) => folder !== undefined);
    this.#protected = new ProtectedPaths(this.#clock, homes);
    this.#locked = [...(options.guarded?.folders ?? []), ...(options.guarded?.files ?? [])];
    const { guarded = {}, brokerFolder } = options;
    this.#brokerFolder = brokerFolder;
    const hidden = [...(guarded.hidden ?? []), ...(brokerFolder === undefined ? [] : [brokerFolder])];
    this.#guarded = new GuardedPaths({ ...guarded, hidden }, listenerSockets);
    const { scopeFolder: folder } = options;
    this.#privateFolders = new PrivateFolders(folder && join(folder, "agents"), this.#clock);
    if (folder !== undefined)
      this.#scopes = new SandboxScopes({
        ...{ folder, environment, clock: this.#clock },
        ...(options.onConnection === undefined ? {} : { onEvent: options.onConnection }),
        confined: (worktree, mounts) => this.#confinedGit(worktree, mounts),
      });
    const searchPath = searchPathOf(environment);
    this.#search = new MechanismSearch({ ...options, environment, searchPath, clock: this.#clock });
  }

  async state(): Promise<SandboxState> {
    const { mechanism, failures } = await this.#search.mechanism();
    if (mechanism !== undefined) {
      this.#limitations ??= this.#scopes?.limitations(mechanism);
      const limitations = (await this.#limitations) ?? [];
      const limited = limitations.length === 0 ? {} : { limitations };
      return { available: true, mechanism: mechanism.name, ...limited };
    }
    return { available: false, mechanism: "none", detail: `${failures.join("; ")}. ${WAY_OUT}` };
  }

  launch(spec: LaunchSpec): Promise<LaunchResult> {
    return retrying((isLast) => this.#launch(spec, isLast));
  }

  start(spec: ProcessSpec): Promise<RunningProcess> {
    return retrying((isLast) => this.#start(spec, isLast));
  }

  resolveWritable(path: string, workspace: string): Promise<WritablePath> {
    const { HOME: home } = this.#environment;
    return resolveWritable({ path, workspace, home }, (real) => this.#guarded.contains(real));
  }

  /** Only bubblewrap can show a broker in a sandbox. */
  async openBroker(launch?: Sandbox["start"]): Promise<CommandBroker | undefined> {
    const { mechanism } = await this.#search.mechanism();
    if (this.#brokerFolder === undefined || !(mechanism instanceof Bubblewrap)) return undefined;
    const folder = join(this.#brokerFolder, randomBytes(4).toString("hex"));
    const start = launch ?? ((spec: ProcessSpec) => this.start(spec));
    const resolveWritable = (path: string, workspace: string) => this.resolveWritable(path, workspace);
    return UnixCommandBroker.open({ folder, node: process.execPath, start, resolveWritable });
  }

  async commits(scopeId: string): Promise<CommitOffer | undefined> {
    return this.#scopes?.commits(scopeId);
  }

  async refreshScope(scopeId: string): Promise<void> {
    await this.#scopes?.refresh(scopeId);
  }

  async closeScope(scopeId: string): Promise<void> {
    await this.#scopes?.close(scopeId);
  }

  async #launch(spec: LaunchSpec, isLast: boolean): Promise<LaunchResult | undefined> {
    const { run, mayVanish, release, denials } = await this.#prepare(spec);
    let tail = "";
    const onOutput: LaunchSpec["onOutput"] = (text, stream) => {
      tail = (tail + text).slice(-MOST_OUTPUT);
      spec.onOutput(text, stream);
    };
    try {
      const problem = await problemOf(spec, run.environment);
      if (spec.signal?.aborted === true) return { exitCode: 130, durationMs: 0, ended: "aborted" };
      const command = new CommandRun(run, { ...spec, onOutput });
      if (problem === undefined) {
        const result = await (mayVanish && !isLast ? command.attempt() : command.result());
        const found = result?.ended === "aborted" ? [] : await denials(result?.exitCode ?? 0, tail);
        return result === undefined || found.length === 0 ? result : { ...result, denials: found };
      }
      spec.onOutput(`${problem.message}\n`, "stderr");
      return { exitCode: problem.exitCode, durationMs: 0, ended: "exited" };
    } finally {
      await release();
    }
  }

  async #start(spec: ProcessSpec, isLast: boolean): Promise<RunningProcess | undefined> {
    const { run, mayVanish, release } = await this.#prepare({ ...spec, isProgram: true });
    const [name = ""] = spec.command;
    // If it cannot be started, the preparation is undone.
    try {
      const problem = await problemOf(spec, run.environment);
      if (problem !== undefined) throw new FlintError("agentFailed", problem.message, { command: name });
      if (isLast || !mayVanish) return await ProcessRun.start(run, name, release);
      const running = await ProcessRun.attempt(run, name, release);
      if (running === undefined) await release();
      return running;
    } catch (thrown) {
      await release();
      throw thrown;
    }
  }

  async #prepare(request: StartRequest): Promise<Prepared> {
    const { policy, permission = {} } = request;
    const isFree = isUnconfined(policy) || permission.unconfined === true;
    return isFree ? this.#prepareUnconfined(request) : this.#prepareConfined(request, policy);
  }

  async #prepareUnconfined({ command, cwd, environment: own }: StartRequest): Promise<Prepared> {
    const containment = await this.#search.containment();
    const environment = { ...this.#environment, PWD: cwd, ...own };
    const run: RunSpec = {
      ...{ argv: containment.launchArguments(command), cwd, containment: containment.kind },
      ...{ environment, clock: this.#clock },
    };
    return { run, mayVanish: false, denials: async () => [], release: async () => undefined };
  }

  async #prepareConfined(request: StartRequest, policy: ConfinedPolicy): Promise<Prepared> {
    const { mechanism, failures } = await this.#search.mechanism();
    if (mechanism === undefined) throw unavailable(request.command, policy, failures);
    // The user's own temporary folder is not writable inside; /tmp is.
    const { TMPDIR: _, TMP: __, TEMP: ___, ...inherited } = this.#environment;
    const given = { ...inherited, ...request.environment };
    const shared =
      (await this.#scopes?.acquire(request, policy, mechanism, given)) ??
      unscoped(keepsMachineNetwork(request));
    if (hostsOf(request.permission ?? {}).length > 0 && shared.enter.length === 0) {
      shared.release();
      throw cannotFilter(request.command);
    }
    const { confinement, release } = await this.#confine(request, policy, shared);
    const environment = { ...given, PWD: confinement.cwd, ...shared.environment };
    const argv = [...shared.enter, ...mechanism.launchArguments(request.command, confinement)];
    const { filterFile } = shared;
    const run: RunSpec = {
      argv,
      cwd: "/",
      containment: "namespace",
      environment,
      filterFile,
      clock: this.#clock,
    };
    const denials = (exitCode: number, output: string) =>
      this.#denials({
        ...request,
        policy,
        exitCode,
        output,
        refused: shared.refused().map(refusedConnection),
      });
    return { run, mayVanish: mountsForeignPaths(confinement), denials, release };
  }

  #denials(command: Omit<EndedCommand, "home" | "locked">): Promise<readonly Denial[]> {
    const home = this.#environment.HOME ?? homedir();
    return denialsOf({ ...command, home, locked: this.#locked });
  }

  /** Runs git in a sandbox without network in which nothing but the mounts can be written. */
  async #confinedGit(worktree: string, mounts: readonly Mount[]): Promise<ConfinedGit> {
    const { mechanism } = await this.#search.mechanism();
    const spec = { command: ["git"], cwd: worktree, workspace: worktree, policy: READ_ONLY };
    if (mechanism === undefined) throw unavailable(spec.command, READ_ONLY, []);
    const wrap = async (command: readonly string[], start: string) => {
      const { confinement } = await this.#confine(spec, READ_ONLY, { ...unscoped(false), mounts });
      return [
        ...["/bin/sh", "-c", `exec 3>${start} 4>&2; exec "$@"`, "sh"],
        ...mechanism.launchArguments(command, confinement),
      ];
    };
    const options = { cwd: "/", env: gitEnvironment(this.#environment), timeoutMs: GIT_TIMEOUT_MS };
    const attempt = async (command: readonly string[], input?: string) => {
      const result = await runToEnd(await wrap(command, "&1"), { ...options, input });
      // The first process writes an empty line when everything is set up.
      return result.stdout.startsWith("\n") ? { ...result, stdout: result.stdout.slice(1) } : undefined;
    };
    return {
      wrap: (command) => wrap(command, "/dev/null"),
      run: (command, input) =>
        retrying(async (isLast) => {
          const result = await attempt(command, input);
          if (result === undefined && isLast) throw unavailable(spec.command, READ_ONLY, []);
          return result;
        }),
    };
  }

  async #confine(request: StartRequest, policy: ConfinedPolicy, shared: ScopeLease) {
    const leases: { release(): void | Promise<void> }[] = [shared];
    const release = async () => {
      for (const lease of leases) await lease.release();
    };
    const guard = async (roots: readonly string[], own: readonly string[]): Promise<Guarded> => {
      const lease = await this.#protected.acquire(roots);
      leases.push(lease);
      const { paths: locked, pins, sockets } = await this.#guarded.within(roots, own);
      return { protected: lease.paths, locked, pins, sockets, hidden: await this.#guarded.hidden() };
    };
    // If something cannot be protected, what was acquired so far is released.
    try {
      const own = await this.#privateFolders.acquire(request.privateFolders);
      leases.push(own);
      const { privateFolders, privateSources } = own;
      // The arguments of a program come from the user; those of a command may come from a model.
      const { command, isProgram = false, broker } = request;
      const trusted = isProgram ? command : command.slice(0, 1);
      const shown = broker instanceof UnixCommandBroker ? [broker.mount] : [];
      const programs = [...trusted, ...shown.map(() => process.execPath)].filter((path) => isAbsolute(path));
      const mounts = [...shared.mounts, ...shown];
      const { keepsNetwork: network } = shared;
      const grantedRoots = request.permission?.write ?? [];
      const wanted = {
        ...{ ...request, policy, programs, mounts, network, grantedRoots },
        ...{ privateFolders, privateSources },
      };
      const confinement = await confine(wanted, guard);
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

/** What is looked at of the output of a command, to see what the sandbox kept it from. */
const MOST_OUTPUT = 65_536;

const READ_ONLY: ConfinedPolicy = { type: "readOnly" };

/** Whether the setup depends on sockets, or on entries of private folders, that other programs remove at any time. */
function mountsForeignPaths({ sockets, privates }: Confinement): boolean {
  return sockets.length > 0 || privates.some(({ binds }) => binds.length > 0);
}

/** Retries until the command has started; the last attempt reports its result in any case. */
async function retrying<Value>(attempt: (isLast: boolean) => Promise<Value | undefined>): Promise<Value> {
  for (let count = 1; count < MAX_ATTEMPTS; count += 1) {
    const value = await attempt(false);
    if (value !== undefined) return value;
  }
  const value = await attempt(true);
  if (value === undefined) throw new Error("The last attempt to start a command has no result.");
  return value;
}

function problemOf({ command: [program = ""], cwd }: StartRequest, environment: Variables) {
  return startProblem(program, cwd, searchPathOf(environment));
}

function searchPathOf(environment: Variables): string {
  return environment.PATH ?? SYSTEM_PATH;
}
