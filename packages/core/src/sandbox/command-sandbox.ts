import { FlintError, type SandboxPolicy, type SandboxState } from "@flint/protocol";
import { type Clock, SYSTEM_CLOCK } from "../ports/clock.ts";
import type { LaunchResult, LaunchSpec, Sandbox } from "../ports/sandbox.ts";
import { Bubblewrap } from "./bubblewrap.ts";
import { CommandRun } from "./command-run.ts";
import { type ConfinedPolicy, confine } from "./confinement.ts";
import { commandEnvironment, type Environment } from "./environment.ts";
import { MECHANISM_NAMES, type Mechanism, type MechanismName, SYSTEM_PATH } from "./mechanism.ts";
import { Namespaces, type Tools } from "./namespaces.ts";
import { findProgram, startProblem } from "./program.ts";
import { tryMechanism } from "./trial.ts";
import { GroupLeash, type Leash, NamespaceLeash } from "./unconfined.ts";

/** What a sandbox is made of. */
export interface CommandSandboxOptions {
  /** What commands inherit, minus keys and tokens. Comes from the caller; the sandbox reads none of its own. */
  readonly environment: Environment;
  readonly clock?: Clock;
  /** The ways of confinement to try, in order; all of them if not given. */
  readonly mechanisms?: readonly MechanismName[];
  /** How unconfined commands are kept together; the surest way that works here if not given. */
  readonly leash?: Leash["kind"];
}

const TRIAL_TIMEOUT_MS = 10_000;

interface Found {
  readonly mechanism: Mechanism | undefined;
  /** What was tried in vain, and why. */
  readonly refusals: readonly string[];
}

/** What is started for one launch, and from where. */
interface Start {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly leash: Leash["kind"];
  readonly environment: Readonly<Record<string, string>>;
}

/** Starts commands under Linux, confined as their policy says, and leaves nothing of them behind. */
export class CommandSandbox implements Sandbox {
  readonly #environment: Readonly<Record<string, string>>;
  readonly #clock: Clock;
  readonly #names: readonly MechanismName[];
  readonly #leashKind: Leash["kind"] | undefined;
  #found: Promise<Found> | undefined;
  #leash: Promise<Leash> | undefined;

  constructor(options: CommandSandboxOptions) {
    this.#environment = commandEnvironment(options.environment);
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    this.#names = options.mechanisms ?? MECHANISM_NAMES;
    this.#leashKind = options.leash;
  }

  async state(): Promise<SandboxState> {
    const { mechanism, refusals } = await this.#find();
    const detail = refusals.join("; ");
    if (mechanism !== undefined) return { available: true, mechanism: mechanism.name };
    return { available: false, mechanism: "none", detail: `${detail}. ${WAY_OUT}` };
  }

  async launch(spec: LaunchSpec): Promise<LaunchResult> {
    const start = await this.#prepare(spec);
    const [program = ""] = spec.command;
    const problem = await startProblem(program, spec.cwd, this.#searchPath);
    if (spec.signal?.aborted === true) return { exitCode: 130, durationMs: 0, ended: "aborted" };
    if (problem !== undefined) {
      spec.output(`${problem.message}\n`, "stderr");
      return { exitCode: problem.exitCode, durationMs: 0, ended: "exited" };
    }
    return new CommandRun({ ...start, clock: this.#clock }, spec).result();
  }

  get #searchPath(): string {
    return this.#environment.PATH ?? SYSTEM_PATH;
  }

  async #prepare(spec: LaunchSpec): Promise<Start> {
    const { policy } = spec;
    switch (policy.type) {
      case "dangerFullAccess":
      case "externalSandbox":
        return this.#prepareUnconfined(spec);
      case "readOnly":
      case "workspaceWrite":
        return this.#prepareConfined(spec, policy);
    }
  }

  async #prepareUnconfined({ command, cwd }: LaunchSpec): Promise<Start> {
    this.#leash ??= this.#findLeash();
    const leash = await this.#leash;
    const environment = { ...this.#environment, PWD: cwd };
    return { argv: leash.wrap(command), cwd, leash: leash.kind, environment };
  }

  async #prepareConfined(spec: LaunchSpec, policy: ConfinedPolicy): Promise<Start> {
    const { mechanism, refusals } = await this.#find();
    if (mechanism === undefined) throw unavailable(spec.command, policy, refusals);
    const confinement = await confine(policy, spec.workspace, spec.cwd);
    // The folder for temporary files that the user set is not writable in there; /tmp is.
    const { TMPDIR: _, TMP: __, TEMP: ___, ...environment } = this.#environment;
    return {
      argv: mechanism.wrap(spec.command, confinement),
      cwd: "/",
      leash: "namespace",
      environment: { ...environment, PWD: confinement.cwd },
    };
  }

  #find(): Promise<Found> {
    this.#found ??= this.#findMechanism();
    return this.#found;
  }

  async #findMechanism(): Promise<Found> {
    const refusals: string[] = [];
    for (const name of this.#names) {
      const mechanism = await this.#mechanism(name);
      const refusal = mechanism === undefined ? "not installed" : await this.#try(mechanism);
      if (refusal === undefined) return { mechanism, refusals };
      refusals.push(`${name}: ${refusal}`);
    }
    return { mechanism: undefined, refusals };
  }

  async #mechanism(name: MechanismName): Promise<Mechanism | undefined> {
    switch (name) {
      case "bubblewrap": {
        const program = await findProgram("bwrap", this.#searchPath);
        return program === undefined ? undefined : new Bubblewrap(program, this.#searchPath);
      }
      case "namespaces": {
        const tools = await findTools();
        const identity = { user: process.getuid?.() ?? 0, group: process.getgid?.() ?? 0 };
        return tools === undefined ? undefined : new Namespaces(tools, identity, this.#searchPath);
      }
    }
  }

  #try(mechanism: Mechanism): Promise<string | undefined> {
    const folders = ["/var/tmp", this.#environment.HOME].filter((folder) => folder !== undefined);
    return tryMechanism(mechanism, (argv) => this.#runTrial(argv), folders);
  }

  /** What a wrapped program prints; its exit code does not matter. */
  async #runTrial(argv: readonly string[]): Promise<string> {
    const printed: string[] = [];
    const start: Start = { argv, cwd: "/", leash: "namespace", environment: this.#environment };
    const output = (text: string) => printed.push(text);
    await new CommandRun({ ...start, clock: this.#clock }, { output, timeoutMs: TRIAL_TIMEOUT_MS }).result();
    return printed.join("");
  }

  async #findLeash(): Promise<Leash> {
    const tools = await findTools();
    const wantsNamespace = this.#leashKind !== "group" && process.getuid?.() === 0;
    if (tools !== undefined && wantsNamespace) {
      const leash = new NamespaceLeash(tools, this.#searchPath);
      const printed = await this.#runTrial(leash.wrap(["/bin/sh", "-c", "readlink /proc/self"]));
      if (/^\d+\n$/.test(printed)) return leash;
    }
    return new GroupLeash();
  }
}

const WAY_OUT =
  "Install bubblewrap (apt-get install bubblewrap), or choose the sandbox policy dangerFullAccess, or externalSandbox where something else confines Flint.";

function unavailable(
  command: readonly string[],
  policy: SandboxPolicy,
  refusals: readonly string[],
): FlintError {
  const shown = command.join(" ");
  const reasons = refusals.length === 0 ? "" : ` (${refusals.join("; ")})`;
  const message = `Did not run "${shown}": the sandbox policy ${policy.type} cannot be enforced here${reasons}. ${WAY_OUT}`;
  return new FlintError("sandboxUnavailable", message, { command: shown, policy: policy.type });
}

/** The tools of util-linux, from the folders of the system only. */
async function findTools(): Promise<Tools | undefined> {
  const [setpriv, unshare] = await Promise.all([
    findProgram("setpriv", SYSTEM_PATH),
    findProgram("unshare", SYSTEM_PATH),
  ]);
  return setpriv === undefined || unshare === undefined ? undefined : { setpriv, unshare };
}
