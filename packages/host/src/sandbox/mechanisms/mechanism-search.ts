import type { Clock } from "@flint/core/ports";
import { CommandRun } from "../processes/command-run.ts";
import { findProgram } from "../processes/program.ts";
import { Bubblewrap } from "./bubblewrap.ts";
import { type Containment, GroupContainment, NamespaceContainment } from "./containment.ts";
import { MECHANISM_NAMES, type Mechanism, type MechanismName, SYSTEM_PATH } from "./mechanism.ts";
import { Namespaces, type Tools } from "./namespaces.ts";
import { tryMechanism } from "./trial.ts";

const TRIAL_TIMEOUT_MS = 10_000;

/** The first mechanism that works on this machine, and why others before it do not. */
export interface FoundMechanism {
  readonly mechanism: Mechanism | undefined;
  readonly failures: readonly string[];
}

/** What a search is made with. */
export interface SearchOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly searchPath: string;
  readonly clock: Clock;
  readonly mechanisms?: readonly MechanismName[] | undefined;
  readonly containment?: Containment["kind"] | undefined;
}

/** Finds by trial what works on this machine, once, on first use. */
export class MechanismSearch {
  readonly #options: SearchOptions;
  #found: Promise<FoundMechanism> | undefined;
  #containment: Promise<Containment> | undefined;

  constructor(options: SearchOptions) {
    this.#options = options;
  }

  /** The mechanism for confined commands. */
  mechanism(): Promise<FoundMechanism> {
    this.#found ??= this.#findMechanism();
    return this.#found;
  }

  /** The containment of unconfined commands. */
  containment(): Promise<Containment> {
    this.#containment ??= this.#findContainment();
    return this.#containment;
  }

  async #findMechanism(): Promise<FoundMechanism> {
    const failures: string[] = [];
    for (const name of this.#options.mechanisms ?? MECHANISM_NAMES) {
      const mechanism = await this.#make(name);
      const failure = mechanism === undefined ? "not installed" : await this.#try(mechanism);
      if (failure === undefined) return { mechanism, failures: failures };
      failures.push(`${name}: ${failure}`);
    }
    return { mechanism: undefined, failures: failures };
  }

  async #make(name: MechanismName): Promise<Mechanism | undefined> {
    const { searchPath } = this.#options;
    switch (name) {
      case "bubblewrap": {
        const program = await findProgram("bwrap", searchPath);
        return program === undefined ? undefined : new Bubblewrap(program, searchPath);
      }
      case "namespaces": {
        const tools = await findTools();
        const identity = { user: process.getuid?.() ?? 0, group: process.getgid?.() ?? 0 };
        return tools === undefined ? undefined : new Namespaces(tools, identity, searchPath);
      }
    }
  }

  #try(mechanism: Mechanism): Promise<string | undefined> {
    const folders = ["/var/tmp", this.#options.environment.HOME].filter((folder) => folder !== undefined);
    return tryMechanism(mechanism, (argv) => this.#run(argv), folders);
  }

  async #findContainment(): Promise<Containment> {
    const tools = await findTools();
    const canUseNamespace = this.#options.containment !== "group" && process.getuid?.() === 0;
    if (tools !== undefined && canUseNamespace) {
      const containment = new NamespaceContainment(tools, this.#options.searchPath);
      const printed = await this.#run(containment.wrap(["/bin/sh", "-c", "readlink /proc/self"]));
      if (/^\d+\n$/.test(printed)) return containment;
    }
    return new GroupContainment();
  }

  /** Runs a wrapped program and returns its output, whatever its exit code. */
  async #run(argv: readonly string[]): Promise<string> {
    const { environment, clock } = this.#options;
    const printed: string[] = [];
    const output = (text: string) => printed.push(text);
    const spec = { argv, cwd: "/", containment: "namespace", environment, clock } as const;
    await new CommandRun(spec, { onOutput: output, timeoutMs: TRIAL_TIMEOUT_MS }).result();
    return printed.join("");
  }
}

/** The util-linux tools, from the system's folders only. */
async function findTools(): Promise<Tools | undefined> {
  const [setpriv, unshare] = await Promise.all([
    findProgram("setpriv", SYSTEM_PATH),
    findProgram("unshare", SYSTEM_PATH),
  ]);
  return setpriv === undefined || unshare === undefined ? undefined : { setpriv, unshare };
}
