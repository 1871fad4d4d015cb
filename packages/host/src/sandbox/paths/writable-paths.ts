import { access, constants, lstat, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { WritablePath } from "@flint/core/ports";
import { isPathIn } from "@flint/protocol";
import { isProtectedName } from "./protected-names.ts";

/** A folder that a command wants to write beyond its policy. */
export interface WritePathRequest {
  readonly path: string;
  readonly workspace: string;
  /** The folder that a leading `~` stands for. */
  readonly home: string | undefined;
}

/** Folders of the system: their content is not files, or is what programs outside of the sandbox start or start with. */
const SYSTEM_FOLDERS = [
  ...["/proc", "/sys", "/dev", "/run", "/boot"],
  ...["/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"],
];

/** The system folder in which the user's own installations belong to the user. */
const OWN_IN_SYSTEM = "/usr/local";

/**
 * Folders in which programs keep settings, or a parent of one; everything else below `.local/share` and
 * `.local/state` is data.
 */
const SETTINGS_FOLDERS = [/\/\.config(?:\/|$)/, /\/\.local(?:\/(?:bin(?:\/.*)?|share|state))?$/];

/**
 * Hidden folders of a home folder that are not settings and programs of the user's tools but caches and data,
 * which are opened one by one.
 */
const DATA_IN_HOME =
  /^(?:\.cache\/[^/]|\.local\/(?:share|state)\/[^/]|\.(?:npm|pnpm-store|m2\/repository|gradle\/caches|nuget\/packages)(?:\/|$))/;

/** Folders in which agents keep settings, plugins and programs among the data of other programs. */
const AGENT_FOLDER = /\/(?:share|state|\.cache)\/(?:opencode|goose|gemini|claude|codex|flint)(?:\/|$)/i;

/**
 * Resolves a folder for one command, or explains why no approval opens it. One that does not exist is created when such a
 * command is started. Never rejects.
 */
export async function resolveWritable(
  { path, workspace, home }: WritePathRequest,
  isGuarded: (path: string) => Promise<boolean>,
): Promise<WritablePath> {
  const named = path.startsWith("~/") && home !== undefined ? join(home, path.slice(2)) : path;
  if (!isAbsolute(named) || named.includes("\0")) return { problem: `${path} is not an absolute path` };
  const found = await folderAt(named);
  if ("problem" in found) return found;
  const { path: real } = found;
  const work = await realpath(workspace).catch(() => workspace);
  if (work !== real && isPathIn(work, real)) return { problem: `${real} contains the workspace` };
  const problem = (await isGuarded(real)) ? "it belongs to Flint" : await writeProblem(real, home);
  return problem === undefined ? { path: real } : { problem: `${real} cannot be opened: ${problem}` };
}

/** The real path of a folder, or the one that it will have when it is created. */
async function folderAt(named: string): Promise<WritablePath> {
  // Expected: nothing is there, or it may not be looked at.
  const real = await realpath(named).catch(() => undefined);
  if (real === undefined) return missingFolder(resolve(named));
  const found = await stat(real).catch(() => undefined);
  return found?.isDirectory() === true
    ? { path: real }
    : { problem: `${real} is not a folder; name the folder it is in` };
}

async function missingFolder(path: string): Promise<WritablePath> {
  const entry = await lstat(path).catch(() => undefined);
  if (entry !== undefined) return { problem: `${path} is a link that leads nowhere` };
  const parent = await folderAt(dirname(path));
  if ("problem" in parent) return parent;
  // Of a parent that does not exist either, the one around it was looked at.
  const isClosed = await access(parent.path, constants.W_OK).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code !== "ENOENT",
  );
  const problem = `${path} does not exist and cannot be created in ${parent.path}`;
  return isClosed ? { problem } : { path: join(parent.path, basename(path)) };
}

/**
 * Returns the reason no approval lets a command write a real path, not counting Flint's own files; undefined
 * if one can.
 */
export async function writeProblem(path: string, home: string | undefined): Promise<string | undefined> {
  const isSystem = SYSTEM_FOLDERS.some((folder) => isPathIn(path, folder)) && !isPathIn(path, OWN_IN_SYSTEM);
  if (path === sep || isSystem) return "it belongs to the system";
  const name = path.split(sep).find(isProtectedName);
  if (name !== undefined) return `${name} configures agents, editors, shells or version control`;
  const realHome = home === undefined ? undefined : await realpath(home).catch(() => home);
  if (realHome !== undefined && isPathIn(realHome, path)) return "it contains your home folder";
  const inHome = realHome !== undefined && isPathIn(path, realHome) ? relative(realHome, path) : "";
  const isHidden = inHome.startsWith(".") && !DATA_IN_HOME.test(inHome);
  if (isHidden || SETTINGS_FOLDERS.some((pattern) => pattern.test(path)))
    return "programs keep their settings there";
  return AGENT_FOLDER.test(path) ? "agents keep their settings there" : undefined;
}
