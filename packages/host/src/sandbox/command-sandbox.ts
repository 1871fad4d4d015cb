import { randomBytes } from "node:crypto";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type {
  Clock,
  CommandBroker,
  CommitOffer,
  Denial,
  EndedCommand,
  LaunchResult,
  LaunchSpec,
  ProcessSpec,
  RunningProcess,
  Sandbox,
  WritablePath,
} from "@flint/core/ports";
import { SYSTEM_CLOCK } from "@flint/core/ports";
import { commandEnvironment, type Environment } from "@flint/core/redact";
import { FlintError, isUnconfined, type SandboxState } from "@flint/protocol";
import type { NetworkScopesOptions } from "../network/network-scopes.ts";
import { UnixCommandBroker } from "./broker/command-broker.ts";
import { Bubblewrap } from "./mechanisms/bubblewrap.ts";
import {
  type Containment,
  type Mechanism,
  type MechanismName,
  retryStart,
  SYSTEM_PATH,
  UMASK_NAME,
} from "./mechanisms/launch.ts";
import { MechanismSearch } from "./mechanisms/mechanism-search.ts";
import { type GuardedLocations, GuardedPaths } from "./paths/guarded-paths.ts";
import { EXISTING_NAMES } from "./paths/protected-names.ts";
import { ProtectedPaths } from "./paths/protected-paths.ts";
import { resolveWritable } from "./paths/writable-paths.ts";
import { Preparation, type StartRequest, type Variables } from "./preparation.ts";
import { PrivateFolders } from "./private-folders.ts";
import { CommandRun } from "./processes/command-run.ts";
import { ProcessRun } from "./processes/process-run.ts";
import { startProblem } from "./processes/program.ts";
import { NO_BROKER, WAY_OUT } from "./refusals.ts";
import { SandboxScopes } from "./scopes.ts";
import { listenerSockets } from "./sockets.ts";

/** The options of a sandbox. */
export interface CommandSandboxOptions {
  /**
   * The environment that commands inherit, without keys and tokens. The sandbox does not read the environment
   * itself.
   */
  readonly environment: Environment;
  readonly clock?: Clock;
  /** The umask of commands; that of this process if not given. */
  readonly umask?: number;
  /** Flint's own state and settings, which no command can write even in its roots. */
  readonly guarded?: GuardedLocations;
  /** The mechanisms to try, in order; all if not given. */
  readonly mechanisms?: readonly MechanismName[];
  /**
   * The folder for the networks and git directories of scopes and the private folders of programs; without it
   * confined commands have no network but what their policy allows, and cannot change a repository.
   */
  readonly scopeFolder?: string;
  /** Called for each connection of a scope that is held, allowed, refused or fails. */
  readonly onConnection?: NetworkScopesOptions["onEvent"];
  /**
   * The folder for the sockets of brokers; hidden from everything in a sandbox. Without it there are no
   * brokers.
   */
  readonly brokerFolder?: string;
  /** The containment of unconfined commands; the best that works on this machine if not given. */
  readonly containment?: Containment["kind"];
}

/** Runs commands on Linux, confined by their policy, and leaves no process behind. */
export class CommandSandbox implements Sandbox {
  readonly #environment: Variables;
  readonly #search: MechanismSearch;
  readonly #guarded: GuardedPaths;
  readonly #preparation: Preparation;
  readonly #scopes: SandboxScopes | undefined;
  #limitations: Promise<string[]> | undefined;
  readonly #brokerFolder: string | undefined;

  constructor(options: CommandSandboxOptions) {
    const inherited = commandEnvironment(options.environment);
    const umask = options.umask ?? process.umask();
    const environment = { ...inherited, [UMASK_NAME]: umask.toString(8).padStart(3, "0") };
    const { clock = SYSTEM_CLOCK, guarded = {}, brokerFolder, scopeFolder: folder } = options;
    const homes = [inherited.HOME, inherited.ZDOTDIR].filter((home) => home !== undefined);
    const hidden = [...(guarded.hidden ?? []), ...(brokerFolder === undefined ? [] : [brokerFolder])];
    this.#environment = environment;
    this.#brokerFolder = brokerFolder;
    this.#guarded = new GuardedPaths({ ...guarded, hidden }, listenerSockets);
    const searchPath = searchPathOf(inherited);
    this.#search = new MechanismSearch({ ...options, environment: inherited, searchPath, clock });
    this.#preparation = new Preparation({
      ...{ environment, clock, search: this.#search, guardedPaths: this.#guarded },
      protectedPaths: new ProtectedPaths(clock, homes),
      privateFolders: new PrivateFolders(folder && join(folder, "agents"), clock),
      locked: [...(guarded.folders ?? []), ...(guarded.files ?? [])],
    });
    if (folder !== undefined)
      this.#scopes = new SandboxScopes({
        ...{ folder, environment: inherited, clock },
        ...(options.onConnection === undefined ? {} : { onEvent: options.onConnection }),
        confined: (worktree, mounts) => this.#preparation.confinedGit(worktree, mounts, this.#scopes),
      });
  }

  async state(): Promise<SandboxState> {
    const { mechanism, failures } = await this.#search.mechanism();
    if (mechanism !== undefined) {
      this.#limitations ??= this.#scopes?.limitations(mechanism);
      const limitations = [...((await this.#limitations) ?? []), ...this.#brokerLimitations(mechanism)];
      const limited = limitations.length === 0 ? {} : { limitations };
      return { available: true, mechanism: mechanism.name, ...limited };
    }
    return { available: false, mechanism: "none", detail: `${failures.join("; ")}. ${WAY_OUT}` };
  }

  launch(spec: LaunchSpec): Promise<LaunchResult> {
    return retryStart((isLast) => this.#launch(spec, isLast));
  }

  start(spec: ProcessSpec): Promise<RunningProcess> {
    return retryStart((isLast) => this.#start(spec, isLast));
  }

  async denials({ policy, scope, ...command }: EndedCommand): Promise<readonly Denial[]> {
    if (isUnconfined(policy)) return [];
    const hasOwnNetwork = this.#scopes !== undefined && scope?.decide !== undefined;
    // Expected: the kernel refuses to look at a path. Then nothing can be said about the command.
    return this.#preparation.denials({ ...command, policy, hasOwnNetwork }).catch(() => []);
  }

  async unprotectedFiles(folders: readonly string[]): Promise<readonly string[]> {
    const paths = folders.flatMap((folder) => EXISTING_NAMES.map((name) => join(folder, name)));
    // Expected: most of them do not exist.
    const found = await Promise.all(paths.map((path) => lstat(path).catch(() => undefined)));
    return paths.filter((_, at) => found[at] !== undefined);
  }

  resolveWritable(path: string, workspace: string): Promise<WritablePath> {
    const { HOME: home } = this.#environment;
    return resolveWritable({ path, workspace, home }, (real) => this.#guarded.contains(real));
  }

  #brokerLimitations(mechanism: Mechanism): string[] {
    return this.#brokerFolder === undefined || mechanism instanceof Bubblewrap ? [] : [NO_BROKER];
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
    const { run, mayVanish, release, denials } = await this.#preparation.prepare(spec, this.#scopes);
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
    const { run, mayVanish, release } = await this.#preparation.prepare(
      { ...spec, isProgram: true },
      this.#scopes,
    );
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
}

/** Maximum amount of a command's output that is searched for what the sandbox denied it. */
const MOST_OUTPUT = 65_536;

function problemOf({ command: [program = ""], cwd }: StartRequest, environment: Variables) {
  return startProblem(program, cwd, searchPathOf(environment));
}

function searchPathOf(environment: Variables): string {
  return environment.PATH ?? SYSTEM_PATH;
}
