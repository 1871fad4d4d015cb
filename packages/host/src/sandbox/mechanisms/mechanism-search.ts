import type { Clock } from "@flint/core/ports";
import { CommandRun } from "../processes/command-run.ts";
import { findProgram } from "../processes/program.ts";
import { Bubblewrap } from "./bubblewrap.ts";
import { MECHANISM_NAMES, type Mechanism, type MechanismName, SYSTEM_PATH } from "./mechanism.ts";
import { Namespaces, type Tools } from "./namespaces.ts";
import { tryMechanism } from "./trial.ts";
import { GroupLeash, type Leash, NamespaceLeash } from "./unconfined.ts";

const TRIAL_TIMEOUT_MS = 10_000;

/** The first way of confinement that holds on this machine, and what was tried in vain before it. */
export interface Found {
  readonly mechanism: Mechanism | undefined;
  readonly refusals: readonly string[];
}

/** What a search needs to know. */
export interface SearchOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly searchPath: string;
  readonly clock: Clock;
  readonly mechanisms?: readonly MechanismName[] | undefined;
  readonly leash?: Leash["kind"] | undefined;
}

/** Finds out by trying what this machine can do, once each, when it is first asked. */
export class MechanismSearch {
  readonly #options: SearchOptions;
  #found: Promise<Found> | undefined;
  #leash: Promise<Leash> | undefined;

  constructor(options: SearchOptions) {
    this.#options = options;
  }

  /** How to confine. */
  mechanism(): Promise<Found> {
    this.#found ??= this.#findMechanism();
    return this.#found;
  }

  /** How to keep together what may touch everything. */
  leash(): Promise<Leash> {
    this.#leash ??= this.#findLeash();
    return this.#leash;
  }

  async #findMechanism(): Promise<Found> {
    const refusals: string[] = [];
    for (const name of this.#options.mechanisms ?? MECHANISM_NAMES) {
      const mechanism = await this.#make(name);
      const refusal = mechanism === undefined ? "not installed" : await this.#try(mechanism);
      if (refusal === undefined) return { mechanism, refusals };
      refusals.push(`${name}: ${refusal}`);
    }
    return { mechanism: undefined, refusals };
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

  async #findLeash(): Promise<Leash> {
    const tools = await findTools();
    const wantsNamespace = this.#options.leash !== "group" && process.getuid?.() === 0;
    if (tools !== undefined && wantsNamespace) {
      const leash = new NamespaceLeash(tools, this.#options.searchPath);
      const printed = await this.#run(leash.wrap(["/bin/sh", "-c", "readlink /proc/self"]));
      if (/^\d+\n$/.test(printed)) return leash;
    }
    return new GroupLeash();
  }

  /** What a wrapped program prints; its exit code does not matter. */
  async #run(argv: readonly string[]): Promise<string> {
    const { environment, clock } = this.#options;
    const printed: string[] = [];
    const output = (text: string) => printed.push(text);
    const spec = { argv, cwd: "/", leash: "namespace", environment, clock } as const;
    await new CommandRun(spec, { onOutput: output, timeoutMs: TRIAL_TIMEOUT_MS }).result();
    return printed.join("");
  }
}

/** The tools of util-linux, from the folders of the system only. */
async function findTools(): Promise<Tools | undefined> {
  const [setpriv, unshare] = await Promise.all([
    findProgram("setpriv", SYSTEM_PATH),
    findProgram("unshare", SYSTEM_PATH),
  ]);
  return setpriv === undefined || unshare === undefined ? undefined : { setpriv, unshare };
}
