import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PrivateFolder } from "@flint/core/ports";

/**
 * A folder of an agent's own. Settings, plugins, hooks and shell snapshots are code that runs later, outside of any sandbox,
 * so a sandboxed agent changes only the listed parts of it permanently.
 */
export interface AgentFolder {
  /** Its path in the user's home. */
  readonly path: string;
  /** The variable that moves it, and the path below what that names. */
  readonly movedBy?: { readonly variable: string; readonly below?: string };
  /** What the agent may write: its sessions and its login. Folders end with a slash and are created if needed. */
  readonly writable: readonly string[] | RegExp;
  /** What the agent does not see, because it has to write there and none of it may last. Folders end with a slash. */
  readonly hides?: readonly string[];
  /**
   * What applies to all other files, which are read-only in both cases. With `private` the agent can add files that only it
   * sees, for agents that do not work otherwise; with `readOnly` it cannot, because a command could then change what its own
   * agent asks about.
   */
  readonly others: "private" | "readOnly";
  /** Files that the agent does not start without and cannot create in a sandbox, with their initial content. */
  readonly initialFiles?: Readonly<Record<string, () => string>>;
  /** Variables that point the agent to a writable path for files that would otherwise lie among the settings. */
  readonly variables?: Readonly<Record<string, string>>;
}

type Variables = Readonly<Record<string, string>>;

/** The paths of an agent's folders as a sandbox takes them. */
export interface AgentPaths {
  readonly ownPaths: readonly string[];
  readonly privateFolders: readonly PrivateFolder[];
  readonly readOnlyPaths: readonly string[];
  /** Variables that point the agent to its writable paths. */
  readonly environment: Variables;
}

/** Claude's folder. What hooks leave in session-env, and the snapshots, are sourced by every shell that Claude starts. */
export const CLAUDE_FOLDER: AgentFolder = {
  path: ".claude",
  movedBy: { variable: "CLAUDE_CONFIG_DIR" },
  writable: [
    "projects/",
    "sessions/",
    "file-history/",
    "todos/",
    "tasks/",
    "plans/",
    "debug/",
    ".credentials.json",
  ],
  hides: ["shell-snapshots/", "session-env/"],
  others: "readOnly",
};

/** Codex's folder. A running Codex looks in tmp first for programs. */
export const CODEX_FOLDER: AgentFolder = {
  path: ".codex",
  movedBy: { variable: "CODEX_HOME" },
  writable: [
    ...[
      "sessions/",
      "archived_sessions/",
      "thread-writer-locks/",
      "generated_images/",
      "attachments/",
      "log/",
    ],
    ...["flint-index/", "installation_id", "auth.json", "models_cache.json"],
  ],
  hides: ["tmp/"],
  initialFiles: { installation_id: () => crypto.randomUUID() },
  others: "readOnly",
  // Its indexes need a folder that can be written as a whole, which its home is not.
  variables: { CODEX_SQLITE_HOME: "flint-index" },
};

/** The folders of an agent that is not known: those that are commonly named after a program. */
export function defaultFolders(name: string): readonly AgentFolder[] {
  if (!/^[a-z][a-z0-9_-]*$/i.test(name)) return [];
  const bases = [".config", ".cache", ".local/share", ".local/state"].map((base) => join(base, name));
  return [`.${name}`, ...bases].map((path) => ({ path, writable: LOGIN_FILES, others: "private" }));
}

/** Files that hold a login, which agents renew from time to time, and no code. */
const LOGIN_FILES = /(?:auth|cred|token|account|login)[\w.-]*\.json$/i;

/** Resolves the folders for a process with these variables, and creates those that the agent writes. */
export async function agentPaths(
  folders: readonly AgentFolder[],
  environment: Variables,
  home: string,
): Promise<AgentPaths> {
  const found = await Promise.all(
    folders.map((folder) => pathsOf(folder, folderPath(folder, environment, home))),
  );
  return {
    ownPaths: found.flatMap(({ ownPaths }) => ownPaths),
    privateFolders: found.flatMap(({ privateFolders }) => privateFolders),
    readOnlyPaths: found.flatMap(({ readOnlyPaths }) => readOnlyPaths),
    environment: Object.assign({}, ...found.map(({ variables }) => variables)),
  };
}

/** Where an agent's folder is. */
export function folderPath({ path, movedBy }: AgentFolder, environment: Variables, home: string): string {
  const moved = movedBy === undefined ? undefined : environment[movedBy.variable];
  return moved === undefined || moved === "" ? join(home, path) : join(moved, movedBy?.below ?? "");
}

async function pathsOf(folder: AgentFolder, path: string) {
  const { writable, hides = [], initialFiles = {}, variables = {}, others } = folder;
  const isPattern = writable instanceof RegExp;
  const own = isPattern ? await filesMatching(writable, path) : writable;
  // Only what exists can be mounted.
  const mounted = others === "private" ? own : [...own, ...hides];
  const created = isPattern ? [] : ["/", ...mounted.filter((name) => name.endsWith("/"))];
  await Promise.all(created.map((name) => createFolder(join(path, name))));
  // Expected: an agent that was used before has them already.
  const files = Object.entries(initialFiles).map(([name, content]) =>
    writeFile(join(path, name), content(), { flag: "wx", mode: 0o600 }).catch(() => undefined),
  );
  await Promise.all(files);
  return {
    ownPaths: own.map((name) => join(path, name)),
    ...(others === "private"
      ? { privateFolders: [{ path, hides }], readOnlyPaths: [] }
      : { privateFolders: hides.map((name) => emptyFolder(join(path, name))), readOnlyPaths: [path] }),
    variables: Object.fromEntries(
      Object.entries(variables).map(([name, below]) => [name, join(path, below)]),
    ),
  };
}

/** Expected: a home that is not writable. The agent itself reports that where it matters. */
async function createFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 }).catch(() => undefined);
}

function emptyFolder(path: string): PrivateFolder {
  return { path, hides: "everything" };
}

async function filesMatching(pattern: RegExp, folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile() && pattern.test(entry.name)).map(({ name }) => name);
}

/** The folder for an agent's state while it works on the offline model, apart from the user's own sessions of it. */
export class OfflineFolder {
  readonly #stateFolder: string | undefined;
  readonly #name: string;
  #path: Promise<string> | undefined;

  /** Without a state folder it is a temporary one, which `remove` removes. */
  constructor(stateFolder: string | undefined, name: string) {
    this.#stateFolder = stateFolder;
    this.#name = name;
  }

  /** Its path; the folder is created by the first call. */
  path(): Promise<string> {
    this.#path ??= this.#create();
    return this.#path;
  }

  /** Removes a temporary folder. */
  async remove(): Promise<void> {
    if (this.#stateFolder !== undefined) return;
    const path = await this.#path?.catch(() => undefined);
    if (path !== undefined) await rm(path, { recursive: true, force: true, maxRetries: 3 });
  }

  async #create(): Promise<string> {
    if (this.#stateFolder === undefined) return mkdtemp(join(tmpdir(), `flint-${this.#name}-`));
    const path = join(this.#stateFolder, this.#name);
    await mkdir(path, { recursive: true, mode: 0o700 });
    return path;
  }
}
