import { mkdir, mkdtemp, readdir, readlink, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@flint/core/ports";
import { isPathIn } from "@flint/protocol";
import { CommandRun } from "../processes/command-run.ts";
import { findProgram } from "../processes/program.ts";
import { findOuterProgram } from "../processes/search-path.ts";
import { Bubblewrap } from "./bubblewrap.ts";
import { confine, maskedFolders } from "./confinement.ts";
import { findFilterLoader } from "./filter-loader.ts";
import {
  type Containment,
  GroupContainment,
  MECHANISM_NAMES,
  type Mechanism,
  type MechanismName,
  NamespaceContainment,
  SYSTEM_PATH,
  splitVariables,
  type Tools,
} from "./launch.ts";
import { Namespaces } from "./namespaces.ts";

const TRIAL_TIMEOUT_MS = 10_000;

/** Maximum number of sets of folders that are remembered. */
const MOST_FOLDERS = 200;

/** The first mechanism that works on this machine, and why others before it do not. */
export interface FoundMechanism {
  readonly mechanism: Mechanism | undefined;
  readonly failures: readonly string[];
}

/** The options of a search. */
export interface SearchOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly searchPath: string;
  readonly clock: Clock;
  readonly mechanisms?: readonly MechanismName[] | undefined;
  readonly containment?: Containment["kind"] | undefined;
  /** The system's own folders, whose programs come first; those of this system if not given. */
  readonly systemPath?: string | undefined;
}

/** Finds by trial what works on this machine, on first use. What worked once is not tried again by this process. */
export class MechanismSearch {
  // A trial starts dozens of programs. Failures are not stored: what is missing may be installed meanwhile.
  static readonly #worked = new Map<string, FoundMechanism>();
  static readonly #containments = new Map<string, Containment>();

  readonly #options: SearchOptions;
  #found: Promise<FoundMechanism> | undefined;
  /** The bubblewrap for commands that can write these folders: looking at all folders around them takes a while. */
  readonly #programs = new Map<string, Promise<string | undefined>>();
  /** Without the bubblewrap that is in a project, by the one that is taken instead. */
  readonly #outside = new Map<string | undefined, Promise<FoundMechanism>>();
  #containment: Promise<Containment> | undefined;

  constructor(options: SearchOptions) {
    this.#options = options;
  }

  /** The mechanism for confined commands that can write these folders, from none of which any of it is started. */
  async mechanism(folders: readonly string[] = []): Promise<FoundMechanism> {
    const found = await this.#ofServer();
    if (!(found.mechanism instanceof Bubblewrap) || folders.length === 0) return found;
    const program = await this.#bubblewrapOutside(folders);
    if (program === found.mechanism.program) return found;
    const { mechanisms = MECHANISM_NAMES } = this.#options;
    const other = this.#outside.get(program) ?? this.#findMechanism(mechanisms, folders);
    this.#outside.set(program, other);
    const { mechanism } = await other;
    // A missing program may be installed meanwhile.
    if (mechanism === undefined) this.#outside.delete(program);
    return other;
  }

  /** The mechanism for a command in the folder that this process was started in. */
  #ofServer(): Promise<FoundMechanism> {
    this.#found ??= this.#knownMechanism().catch((error: unknown) => {
      // A failure of this process, such as a lack of descriptors, proves nothing about the machine.
      this.#found = undefined;
      throw error;
    });
    return this.#found;
  }

  /** The containment of unconfined commands. */
  containment(): Promise<Containment> {
    this.#containment ??= this.#knownContainment();
    return this.#containment;
  }

  async #knownMechanism(): Promise<FoundMechanism> {
    const { mechanisms = MECHANISM_NAMES } = this.#options;
    const key = this.#key(mechanisms);
    const known = MechanismSearch.#worked.get(key);
    if (known !== undefined) return known;
    const found = await this.#findMechanism(mechanisms);
    // What comes after a failure may have worked only because that one could not be tried.
    if (found.mechanism !== undefined && found.failures.length === 0) MechanismSearch.#worked.set(key, found);
    return found;
  }

  async #knownContainment(): Promise<Containment> {
    const { containment = "any" } = this.#options;
    const key = this.#key([containment]);
    const known = MechanismSearch.#containments.get(key);
    if (known !== undefined) return known;
    const found = await this.#findContainment();
    if (found.kind === "namespace") MechanismSearch.#containments.set(key, found);
    return found;
  }

  /** The key of a search on this machine: where programs and folders for a trial are looked for. */
  #key(names: readonly string[]): string {
    const { environment, searchPath } = this.#options;
    return JSON.stringify([names, environment.HOME, searchPath, process.cwd(), process.getuid?.()]);
  }

  async #findMechanism(
    names: readonly MechanismName[],
    folders: readonly string[] = [],
  ): Promise<FoundMechanism> {
    const failures: string[] = [];
    for (const name of names) {
      const mechanism = await this.#create(name, folders);
      const failure = mechanism === undefined ? "not installed" : await this.#try(mechanism);
      if (failure === undefined) return { mechanism, failures };
      failures.push(`${name}: ${failure}`);
    }
    return { mechanism: undefined, failures };
  }

  #bubblewrapOutside(folders: readonly string[]): Promise<string | undefined> {
    const key = JSON.stringify(folders);
    const known = this.#programs.get(key) ?? this.#findBubblewrap(folders);
    if (this.#programs.size >= MOST_FOLDERS) this.#programs.clear();
    this.#programs.set(key, known);
    return known;
  }

  async #findBubblewrap(folders: readonly string[]): Promise<string | undefined> {
    const { searchPath, systemPath = SYSTEM_PATH } = this.#options;
    const installed = await findProgram("bwrap", systemPath);
    return installed ?? (await findOuterProgram("bwrap", searchPath, [process.cwd(), ...folders])).path;
  }

  async #create(name: MechanismName, folders: readonly string[]): Promise<Mechanism | undefined> {
    const { searchPath } = this.#options;
    switch (name) {
      case "bubblewrap": {
        const program = await this.#findBubblewrap(folders);
        return program === undefined ? undefined : new Bubblewrap(program, searchPath);
      }
      case "namespaces": {
        const tools = await this.#loadingTools();
        const identity = { user: process.getuid?.() ?? 0, group: process.getgid?.() ?? 0 };
        return tools === undefined ? undefined : new Namespaces(tools, identity, searchPath);
      }
    }
  }

  /** The tools with what loads a seccomp filter. */
  async #loadingTools(): Promise<Tools | undefined> {
    const tools = await findTools();
    if (tools === undefined) return undefined;
    const help = await this.#run([tools.setpriv, "--help"]);
    return { ...tools, filterLoader: await findFilterLoader(tools.setpriv, help) };
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
      const printed = await this.#run(containment.launchArguments(["/bin/sh", "-c", "readlink /proc/self"]));
      if (/^\d+\n$/.test(printed)) return containment;
    }
    return new GroupContainment();
  }

  /** Runs a wrapped program and returns its output. */
  async #run(argv: readonly string[]): Promise<string> {
    const { environment: all, clock } = this.#options;
    const { outer: environment } = splitVariables(all);
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

/** Runs a wrapped program and returns its output. */
export type TrialRun = (argv: readonly string[]) => Promise<string>;

/**
 * Attempts what must work and what must not, as a command would that tries to escape. The system's tools come first,
 * because the user's PATH may lead to folders that are covered inside. All output goes to one stream, because lines of
 * two could be read interleaved.
 */
const TRIAL_SCRIPT = `
exec 2>&1
PATH=${SYSTEM_PATH}:$PATH
echo inside > "$1/inside"
echo changed > "$1/.git/written"
rmdir "$1/.git" || mv "$1/.git" "$1/moved"
echo outside > "$2/written"
mount -o remount,bind,rw / && echo outside > "$2/remounted"
mount -o remount,bind,rw "$2" && echo outside > "$2/remounted"
unshare --user --map-root-user sh -c 'mount -o remount,bind,rw / && echo outside > "$1/nested"' sh "$2"
echo "capabilities $(sed -n 's/^CapEff:[^0-9a-f]*//p' /proc/self/status)"
echo "network $(readlink /proc/self/ns/net)"
echo "process $(readlink /proc/self/ns/pid)"
`;

/**
 * Verifies that a mechanism confines on this machine: writing inside works, but writing outside or to a protected name,
 * mounting, and keeping the network, processes or capabilities do not. Returns why it does not confine, if so.
 */
export async function tryMechanism(
  mechanism: Mechanism,
  run: TrialRun,
  folders: readonly string[],
): Promise<string | undefined> {
  const folder = await trialFolder(mechanism, folders);
  if (folder === undefined) return `no folder to test it in (tried ${folders.join(", ")})`;
  const inside = join(folder, "inside");
  const outside = join(folder, "outside");
  // The folder is removed however the trial ends.
  try {
    const guarded = join(inside, ".git");
    await Promise.all([mkdir(guarded, { recursive: true }), mkdir(outside)]);
    const guard = async () => ({ protected: [guarded], locked: [], pins: [] });
    const request = { policy: { type: "workspaceWrite" }, workspace: inside, cwd: inside } as const;
    const confinement = await confine(request, guard);
    const command = ["/bin/sh", "-c", TRIAL_SCRIPT, "sh", inside, outside];
    // Sockets of other programs prove nothing about the mechanism, and may vanish before they are covered.
    const printed = await run(mechanism.launchArguments(command, { ...confinement, sockets: [] }));
    return await judge({
      inside: await readdir(inside),
      outside: await readdir(outside),
      protectedEntries: await readdir(guarded).catch(() => ["gone"]),
      printed,
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Effects {
  readonly inside: readonly string[];
  readonly outside: readonly string[];
  readonly protectedEntries: readonly string[];
  readonly printed: string;
}

async function judge({ inside, outside, protectedEntries, printed }: Effects): Promise<string | undefined> {
  if (!inside.includes("inside")) return `a command did not run in it: ${printed.trim() || "no output"}`;
  if (outside.length > 0) return "a command in it could write outside";
  if (protectedEntries.length > 0) return "a command in it could change a protected name";
  if (!/^capabilities [0-9a-f]+\nnetwork .+\nprocess .+$/m.test(printed))
    return `it could not be tested: ${printed.trim().replace(/\s*\n\s*/g, ", ")}`;
  if (!/^capabilities 0+$/m.test(printed)) return "a command in it kept capabilities";
  for (const [word, link] of [
    ["network", "net"],
    ["process", "pid"],
  ] as const) {
    const own = await readlink(`/proc/self/ns/${link}`);
    if (!printed.includes(`${word} ${link}:[`) || printed.includes(own))
      return `it shares its ${word} namespace`;
  }
  return undefined;
}

/** A new folder that is not masked. */
async function trialFolder(mechanism: Mechanism, folders: readonly string[]): Promise<string | undefined> {
  const masks = await maskedFolders();
  for (const candidate of folders) {
    const folder = await realpath(candidate).catch(() => undefined);
    if (folder === undefined || masks.some((mask) => isPathIn(folder, mask))) continue;
    const created = await mkdtemp(join(folder, `flint-${mechanism.name}-`)).catch(() => undefined);
    if (created !== undefined) return created;
  }
  return undefined;
}
