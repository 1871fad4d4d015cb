import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PrivateFolder } from "@flint/core/ports";

/**
 * A folder in which an agent keeps its things. Settings, plugins, hooks and snapshots of shells are code that runs later,
 * outside of any sandbox, so a confined agent changes nothing in there for good but what is listed.
 */
export interface AgentFolder {
  /** Its place in the user's home. */
  readonly path: string;
  /** The variable that moves it, and its place below what that names. */
  readonly movedBy?: { readonly variable: string; readonly below?: string };
  /** What it changes for good: its sessions and its login. Folders end with a slash and are made if need be. */
  readonly keeps: readonly string[] | RegExp;
  /** What it does not see, because it has to write there and none of it may stay. Folders end with a slash. */
  readonly hides?: readonly string[];
  /**
   * What becomes of the rest: what is there is read-only in both cases. `private` if it can add to it for itself, which it
   * gets where it does not work otherwise; `readOnly` where that would let a command change what its own agent asks about.
   */
  readonly rest: "private" | "readOnly";
  /** Files that it does not start without and cannot make where it is confined, with what they hold at first. */
  readonly makes?: Readonly<Record<string, () => string>>;
  /** Variables that name a place in it for what would else lie among the settings. */
  readonly names?: Readonly<Record<string, string>>;
}

type Variables = Readonly<Record<string, string>>;

/** What a confined agent gets of its folders. */
export interface AgentPaths {
  readonly ownPaths: readonly string[];
  readonly privateFolders: readonly PrivateFolder[];
  readonly readOnlyPaths: readonly string[];
  /** Variables that it needs to find its way. */
  readonly environment: Variables;
}

/** Claude's folder. What hooks leave in session-env, and the snapshots, are sourced by every shell that Claude starts. */
export const CLAUDE_FOLDER: AgentFolder = {
  path: ".claude",
  movedBy: { variable: "CLAUDE_CONFIG_DIR" },
  keeps: [
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
  rest: "readOnly",
};

/** Codex's folder. In tmp are the programs that a Codex which runs now finds first. */
export const CODEX_FOLDER: AgentFolder = {
  path: ".codex",
  movedBy: { variable: "CODEX_HOME" },
  keeps: [
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
  makes: { installation_id: () => crypto.randomUUID() },
  rest: "readOnly",
  // Its indexes need a folder that can be written as a whole, which its home is not.
  names: { CODEX_SQLITE_HOME: "flint-index" },
};

/** The folders that an agent which is not known is taken to have: named as it is named itself. */
export function guessedFolders(name: string): readonly AgentFolder[] {
  if (!/^[a-z][a-z0-9_-]*$/i.test(name)) return [];
  const places = [".config", ".cache", ".local/share", ".local/state"].map((at) => join(at, name));
  return [`.${name}`, ...places].map((path) => ({ path, keeps: LOGIN_FILES, rest: "private" }));
}

/** Files that hold a login, which agents renew from time to time, and no code. */
const LOGIN_FILES = /(?:auth|cred|token|account|login)[\w.-]*\.json$/i;

/** What to make of an agent's folders for a process with these variables. Makes those that it is to keep things in. */
export async function agentPaths(
  folders: readonly AgentFolder[],
  environment: Variables,
  home: string,
): Promise<AgentPaths> {
  const found = await Promise.all(
    folders.map((folder) => pathsOf(folder, placeOf(folder, environment, home))),
  );
  return {
    ownPaths: found.flatMap(({ ownPaths }) => ownPaths),
    privateFolders: found.flatMap(({ privateFolders }) => privateFolders),
    readOnlyPaths: found.flatMap(({ readOnlyPaths }) => readOnlyPaths),
    environment: Object.assign({}, ...found.map(({ variables }) => variables)),
  };
}

/** Where an agent's folder is. */
export function placeOf({ path, movedBy }: AgentFolder, environment: Variables, home: string): string {
  const moved = movedBy === undefined ? undefined : environment[movedBy.variable];
  return moved === undefined || moved === "" ? join(home, path) : join(moved, movedBy?.below ?? "");
}

async function pathsOf({ keeps, hides = [], makes = {}, names = {}, rest }: AgentFolder, place: string) {
  const isGuess = keeps instanceof RegExp;
  const kept = isGuess ? await filesNamed(keeps, place) : keeps;
  // Only what exists can be covered or shared.
  const inner = rest === "private" ? kept : [...kept, ...hides];
  const folders = isGuess ? [] : ["/", ...inner.filter((name) => name.endsWith("/"))];
  const made = folders.map((name) => join(place, name));
  // Expected: a home that cannot be written. The agent says so itself, if it minds.
  await Promise.all(made.map((path) => mkdir(path, { recursive: true, mode: 0o700 }).catch(() => undefined)));
  // Expected: an agent that has been used before has them already.
  const files = Object.entries(makes).map(([name, content]) =>
    writeFile(join(place, name), content(), { flag: "wx", mode: 0o600 }).catch(() => undefined),
  );
  await Promise.all(files);
  return {
    ownPaths: kept.map((name) => join(place, name)),
    ...(rest === "private"
      ? { privateFolders: [{ path: place, hides }], readOnlyPaths: [] }
      : { privateFolders: hides.map((name) => emptyFolder(join(place, name))), readOnlyPaths: [place] }),
    variables: Object.fromEntries(Object.entries(names).map(([name, at]) => [name, join(place, at)])),
  };
}

function emptyFolder(path: string): PrivateFolder {
  return { path, hides: "everything" };
}

async function filesNamed(pattern: RegExp, place: string): Promise<string[]> {
  const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
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
