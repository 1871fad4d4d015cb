import { isAbsolute } from "node:path";
import type { LaunchResult, LaunchSpec, ProcessSpec, RunningProcess, Sandbox } from "@flint/core/ports";
import { type Clock, SYSTEM_CLOCK } from "@flint/core/ports";
import { commandEnvironment, type Environment } from "@flint/core/redact";
import { type ConfinedPolicy, FlintError, isUnconfined, type SandboxState } from "@flint/protocol";
import { type Confinement, confine, type Guarded } from "./mechanisms/confinement.ts";
import { type MechanismName, SYSTEM_PATH, UMASK_NAME } from "./mechanisms/mechanism.ts";
import { MechanismSearch } from "./mechanisms/mechanism-search.ts";
import type { Leash } from "./mechanisms/unconfined.ts";
import { GuardedPaths, type GuardedPlaces } from "./paths/guarded-paths.ts";
import { ProtectedPaths } from "./paths/protected-paths.ts";
import { CommandRun } from "./processes/command-run.ts";
import { ProcessRun } from "./processes/process-run.ts";
import type { RunSpec } from "./processes/process-tree.ts";
import { startProblem } from "./processes/program.ts";
import { MOST_LOOKS } from "./sockets/bound-sockets.ts";
import { signedSockets } from "./sockets/listening-presence.ts";

/** What a sandbox is made of. */
export interface CommandSandboxOptions {
  /** What commands inherit, minus keys and tokens. Comes from the caller; the sandbox reads none of its own. */
  readonly environment: Environment;
  readonly clock?: Clock;
  /** The umask of commands; that of this process if not given. */
  readonly umask?: number;
  /** Flint's own state and settings: no command writes them, whatever roots and paths it is given. */
  readonly guarded?: GuardedPlaces;
  /** The ways of confinement to try, in order; all of them if not given. */
  readonly mechanisms?: readonly MechanismName[];
  /** How unconfined commands are kept together; the surest way that works here if not given. */
  readonly leash?: Leash["kind"];
}

type Variables = Readonly<Record<string, string>>;

/** What is to be started, whatever for. */
type Wish = Pick<LaunchSpec, "command" | "cwd" | "policy" | "workspace"> & Partial<ProcessSpec>;

/** What is started, and what has to be done when nothing of it is left. */
interface Prepared {
  readonly run: RunSpec;
  /** Whether it covers what may be gone by the time it is mounted over. */
  readonly isFleeting: boolean;
  release(): Promise<void>;
}

/** Starts commands under Linux, confined as their policy says, and leaves nothing of them behind. */
export class CommandSandbox implements Sandbox {
  readonly #environment: Variables;
  readonly #clock: Clock;
  readonly #search: MechanismSearch;
  readonly #protected: ProtectedPaths;
  readonly #guarded: GuardedPaths;

  constructor(options: CommandSandboxOptions) {
    const environment = commandEnvironment(options.environment);
    const umask = options.umask ?? process.umask();
    this.#environment = { ...environment, [UMASK_NAME]: umask.toString(8).padStart(3, "0") };
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    this.#protected = new ProtectedPaths(this.#clock);
    this.#guarded = new GuardedPaths(options.guarded ?? {}, signedSockets);
    const searchPath = searchPathOf(environment);
    this.#search = new MechanismSearch({ ...options, environment, searchPath, clock: this.#clock });
  }

  async state(): Promise<SandboxState> {
    const { mechanism, refusals } = await this.#search.mechanism();
    if (mechanism !== undefined) return { available: true, mechanism: mechanism.name };
    return { available: false, mechanism: "none", detail: `${refusals.join("; ")}. ${WAY_OUT}` };
  }

  launch(spec: LaunchSpec): Promise<LaunchResult> {
    return looking((isLast) => this.#launch(spec, isLast));
  }

  start(spec: ProcessSpec): Promise<RunningProcess> {
    return looking((isLast) => this.#start(spec, isLast));
  }

  async #launch(spec: LaunchSpec, isLast: boolean): Promise<LaunchResult | undefined> {
    const { run, isFleeting, release } = await this.#prepare(spec);
    try {
      const problem = await problemOf(spec, run.environment);
      if (spec.signal?.aborted === true) return { exitCode: 130, durationMs: 0, ended: "aborted" };
      const command = new CommandRun(run, spec);
      if (problem === undefined) return await (isFleeting && !isLast ? command.attempt() : command.result());
      spec.onOutput(`${problem.message}\n`, "stderr");
      return { exitCode: problem.exitCode, durationMs: 0, ended: "exited" };
    } finally {
      await release();
    }
  }

  async #start(spec: ProcessSpec, isLast: boolean): Promise<RunningProcess | undefined> {
    const { run, isFleeting, release } = await this.#prepare(spec);
    const [name = ""] = spec.command;
    // Whatever keeps it from being started, what was prepared for it is undone.
    try {
      const problem = await problemOf(spec, run.environment);
      if (problem !== undefined) throw new FlintError("agentFailed", problem.message, { command: name });
      if (isLast || !isFleeting) return await ProcessRun.start(run, name, release);
      const running = await ProcessRun.attempt(run, name, release);
      if (running === undefined) await release();
      return running;
    } catch (thrown) {
      await release();
      throw thrown;
    }
  }

  async #prepare(wish: Wish): Promise<Prepared> {
    const { policy } = wish;
    return isUnconfined(policy) ? this.#prepareUnconfined(wish) : this.#prepareConfined(wish, policy);
  }

  async #prepareUnconfined({ command, cwd, environment: own }: Wish): Promise<Prepared> {
    const leash = await this.#search.leash();
    const environment = { ...this.#environment, PWD: cwd, ...own };
    const run: RunSpec = {
      ...{ argv: leash.wrap(command), cwd, leash: leash.kind },
      ...{ environment, clock: this.#clock },
    };
    return { run, isFleeting: false, release: async () => undefined };
  }

  async #prepareConfined(wish: Wish, policy: ConfinedPolicy): Promise<Prepared> {
    const { mechanism, refusals } = await this.#search.mechanism();
    if (mechanism === undefined) throw unavailable(wish.command, policy, refusals);
    const { confinement, release } = await this.#confine(wish, policy);
    // The folder for temporary files that the user set is not writable in there; /tmp is.
    const { TMPDIR: _, TMP: __, TEMP: ___, ...inherited } = this.#environment;
    const environment = { ...inherited, PWD: confinement.cwd, ...wish.environment };
    const argv = mechanism.wrap(wish.command, confinement);
    const run: RunSpec = { argv, cwd: "/", leash: "namespace", environment, clock: this.#clock };
    return { run, isFleeting: confinement.sockets.length > 0, release };
  }

  async #confine(wish: Wish, policy: ConfinedPolicy) {
    const { workspace, cwd, ownPaths = [], privateFolders = [], readOnlyPaths = [] } = wish;
    let release: Prepared["release"] = async () => undefined;
    const guard = async (roots: readonly string[], own: readonly string[]): Promise<Guarded> => {
      const hold = await this.#protected.hold(roots);
      release = hold.release;
      const { paths: firm, pins, sockets } = await this.#guarded.within(roots, own);
      return { names: hold.paths, firm, pins, sockets, hidden: await this.#guarded.hidden() };
    };
    // Whatever cannot be protected, what is held already is let go.
    try {
      // The words of a program that stays come from the user; those of a command may come from a model.
      const words = wish.environment === undefined ? wish.command.slice(0, 1) : wish.command;
      const programs = words.filter((word) => isAbsolute(word));
      const needs = {
        paths: ownPaths,
        privateFolders,
        readOnlyPaths,
        network: wish.network === true,
        programs,
      };
      const confinement: Confinement = await confine(policy, workspace, cwd, guard, needs);
      return { confinement, release };
    } catch (thrown) {
      await release();
      throw thrown;
    }
  }
}

/** Tries until something began, at most so often; the last time is told whatever came of it. */
async function looking<Value>(attempt: (isLast: boolean) => Promise<Value | undefined>): Promise<Value> {
  for (let look = 1; look < MOST_LOOKS; look += 1) {
    const value = await attempt(false);
    if (value !== undefined) return value;
  }
  const value = await attempt(true);
  if (value === undefined) throw new Error("The last attempt to start a command was told nothing of.");
  return value;
}

function problemOf({ command: [program = ""], cwd }: Wish, environment: Variables) {
  return startProblem(program, cwd, searchPathOf(environment));
}

function searchPathOf(environment: Variables): string {
  return environment.PATH ?? SYSTEM_PATH;
}

const WAY_OUT =
  "Install bubblewrap (apt-get install bubblewrap), or choose --sandbox danger-full-access (dangerFullAccess), or --sandbox external-sandbox (externalSandbox) where something else confines Flint.";

/** What the policies are called on the command line, and in the protocol. */
const POLICY_WORDS: Readonly<Record<ConfinedPolicy["type"], string>> = {
  readOnly: "read-only (readOnly)",
  workspaceWrite: "workspace-write (workspaceWrite)",
};

function unavailable(
  command: readonly string[],
  { type }: ConfinedPolicy,
  refusals: readonly string[],
): FlintError {
  const shown = shownCommand(command);
  const reasons = refusals.length === 0 ? "" : ` (${refusals.join("; ")})`;
  const message = `Did not run "${shown}": --sandbox ${POLICY_WORDS[type]} cannot be enforced here${reasons}. ${WAY_OUT}`;
  return new FlintError("sandboxUnavailable", message, { command: shown, policy: type });
}

/** What was asked for, without the shell that it is given to. */
function shownCommand(command: readonly string[]): string {
  const [program = "", flag = "", script, ...rest] = command;
  const isScript = /(?:^|\/)(?:ba|da|z)?sh$/.test(program) && /^-[a-z]*c$/.test(flag) && rest.length === 0;
  return isScript && script !== undefined ? script : command.join(" ");
}
