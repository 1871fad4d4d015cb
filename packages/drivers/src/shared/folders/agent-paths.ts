import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { CopiedFile, PrivateFolder } from "@flint/core/ports";
import { removeEscapingSymlinks } from "@flint/host/files";
import type { ThreadSessions } from "../sessions/thread-sessions.ts";
import type { AgentFolder } from "./agent-folders.ts";
import { isRenewal, isSameShape, LIKELY_LOGIN } from "./login-files.ts";

type Variables = Readonly<Record<string, string>>;

/** The paths of an agent's folders as a sandbox takes them. */
export interface AgentPaths {
  readonly ownPaths: readonly string[];
  readonly privateFolders: readonly PrivateFolder[];
  /**
   * Publishes its sessions, and removes the links that were put among others and lead elsewhere, once no process of it is
   * left. Never rejects.
   */
  clean(): Promise<void>;
  /** The sessions that it works on; absent if no thread needs it, or it keeps none apart. */
  readonly sessions?: ThreadSessions | undefined;
  /** Variables that point the agent to paths in its folders. */
  readonly environment: Variables;
  /** Further ones in a sandbox. */
  readonly sandboxed: Variables;
}

/** The thread that an agent's process works for. */
export interface AgentThread {
  readonly threadId: string;
  readonly cwd: string;
  /** Flint's folder for the state of agents; a temporary one if not given. */
  readonly stateFolder: string | undefined;
}

/** Resolves the folders for a sandboxed process with these variables, and creates those that the agent writes. */
export async function agentPaths(
  folders: readonly AgentFolder[],
  environment: Variables,
  home: string,
  thread?: AgentThread,
): Promise<AgentPaths> {
  const found = await Promise.all(folders.map((folder) => pathsOf(folder, environment, home)));
  const opened = thread && (await openSessions(folders, environment, home, thread));
  const replaced = ({ path }: PrivateFolder) => (path === opened?.path ? { replaced: opened.replaced } : {});
  return {
    ownPaths: found.flatMap(({ ownPaths }) => ownPaths),
    privateFolders: found.map(({ privateFolder }) => ({ ...privateFolder, ...replaced(privateFolder) })),
    sessions: opened?.sessions,
    clean: async () => {
      await opened?.release();
      for (const { ownPaths, privateFolder } of found)
        await removeEscapingSymlinks(ownPaths, privateFolder.path);
    },
    environment: Object.assign({}, ...found.map(({ variables }) => variables)),
    sandboxed: Object.assign({}, ...found.map(({ sandboxed }) => sandboxed)),
  };
}

/** Opens the sessions of the first folder that has any for single threads. */
async function openSessions(
  folders: readonly AgentFolder[],
  environment: Variables,
  home: string,
  { threadId, cwd, stateFolder }: AgentThread,
) {
  const place = sessionPlace(folders, environment, home, stateFolder);
  if (place === undefined) return undefined;
  const temporary = stateFolder === undefined ? await mkdtemp(join(tmpdir(), "flint-sessions-")) : undefined;
  // Descriptors find folders here, when the program starts.
  const { ThreadSessions } = await import("../sessions/thread-sessions.ts");
  const sessions = await ThreadSessions.open({
    ...place,
    threadId,
    cwd,
    ...(temporary && { root: temporary }),
  });
  return {
    path: place.folder,
    sessions,
    replaced: place.names.map((name) => ({ name, source: sessions.source(name) })),
    release: async () => {
      await sessions.release();
      if (temporary !== undefined)
        await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
    },
  };
}

/** The folders of the sessions of single threads, the agent's and Flint's; undefined if the agent keeps none apart. */
export function sessionPlace(
  folders: readonly AgentFolder[],
  environment: Variables,
  home: string,
  stateFolder: string = tmpdir(),
) {
  const found = folders.find(({ threadSessions }) => threadSessions !== undefined);
  if (found?.threadSessions === undefined) return undefined;
  const folder = folderPath(found, environment, home);
  return { root: sessionsRoot(stateFolder), folder, ...found.threadSessions };
}

/** Deletes what Flint keeps of the sessions that agents have for a thread. */
export async function removeSessions(stateFolder: string, threadId: string): Promise<void> {
  const { ThreadSessions } = await import("../sessions/thread-sessions.ts");
  return ThreadSessions.removeAll(sessionsRoot(stateFolder), threadId);
}

function sessionsRoot(stateFolder: string): string {
  return join(stateFolder, "agent-sessions");
}

/** The addresses of its models in the user's settings of an agent. */
export async function modelAddresses(
  folders: readonly AgentFolder[],
  environment: Variables,
  home: string,
): Promise<readonly string[]> {
  const found = folders.map((folder) => folder.modelAddresses?.(folderPath(folder, environment, home)) ?? []);
  return (await Promise.all(found)).flat();
}

/** Returns the path of an agent's folder: where a variable has moved it, else below the home. */
export function folderPath(folder: AgentFolder, environment: Variables, home: string): string {
  return movedPath(folder, environment) ?? join(home, folder.path);
}

function movedPath({ movedBy }: AgentFolder, environment: Variables): string | undefined {
  const moved = movedBy === undefined ? undefined : environment[movedBy.variable];
  return moved === undefined || moved === "" ? undefined : join(moved, movedBy?.below ?? "");
}

async function pathsOf(folder: AgentFolder, environment: Variables, home: string) {
  const { settings = [], sessions = [], hidden = [], threadSessions } = folder;
  const apart = threadSessions?.names ?? [];
  const path = folderPath(folder, environment, home);
  // Only what exists can be mounted; what an unknown agent does not use is not created.
  if (folder.logins !== "likely") {
    await createFolder(path);
    await Promise.all(sessions.map((name) => createFolder(join(path, name))));
  }
  const copies = [...(await loginCopies(folder, path)), ...otherCopies(folder, environment, home)];
  const privateFolder: PrivateFolder = {
    path,
    hides: hidden === "everything" ? hidden : [...hidden.map((name) => basename(name)), ...apart],
    ...(settings.length > 0 && { readOnly: settings }),
    ...(copies.length > 0 && { copies }),
  };
  return {
    ownPaths: sessions.map((name) => join(path, name)),
    privateFolder,
    variables: pathVariables(folder.variables, path),
    sandboxed: pathVariables(folder.sandboxVariables, path),
  };
}

function pathVariables(names: Variables = {}, path: string): Variables {
  return Object.fromEntries(Object.entries(names).map(([name, below]) => [name, join(path, below)]));
}

/** A login of a known agent may also be made; one of an unknown agent must be there and keep its shape. */
async function loginCopies({ logins = [] }: AgentFolder, path: string): Promise<CopiedFile[]> {
  if (logins !== "likely") {
    return logins.map((file) => ({
      name: file.name,
      accepts: (before, after) => isRenewal(file, before, after),
    }));
  }
  // Expected: the agent has no such folder.
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isFile() && LIKELY_LOGIN.test(entry.name));
  return names.map(({ name }) => ({ name, accepts: isSameShape }));
}

function otherCopies(folder: AgentFolder, environment: Variables, home: string): CopiedFile[] {
  const { copies = [], copiesBeside = [] } = folder;
  const isMoved = movedPath(folder, environment) !== undefined;
  return copies.map((name) =>
    !isMoved && copiesBeside.includes(name) ? { name, original: join(home, name) } : { name },
  );
}

/** Expected: a home that is not writable. The agent itself reports that where it matters. */
async function createFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 }).catch(() => undefined);
}
