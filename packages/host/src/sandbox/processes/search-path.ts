import { existsSync, lstatSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { isPathIn } from "@flint/protocol";
import { findProgram } from "./program.ts";

/**
 * The folders of a search path from which a program may be started outside of the sandbox. Left out are those in which an
 * agent could have put one: in the folders given and the repositories around them, in the project that Flint was started
 * in, relative ones, and those of a project's own tools, which npm and virtual environments put first.
 */
export function outerSearchPath(searchPath: string, writable: readonly string[]): string {
  const projects = [process.cwd(), ...writable].flatMap(projectFolders);
  return outerFolders(searchPath, realRoots([...writable, ...projects])).join(delimiter);
}

function outerFolders(searchPath: string, roots: readonly string[]): string[] {
  const isOuter = (folder: string) =>
    isAbsolute(folder) && !isInAny(folder, roots) && !isOfProject(realOf(folder));
  return searchPath.split(delimiter).filter(isOuter);
}

/** The result of searching for a program that is to be started outside of the sandbox. */
export interface OuterProgram {
  /** Its absolute path; absent if it is not installed outside of the project. */
  readonly path?: string;
  /** The program of that name in the project, if there is no other. */
  readonly leftOut?: string;
}

/**
 * Looks up a program that is started outside of the sandbox. One that is in these folders or in the repositories around
 * them is left out, even if the search path reaches it by a link.
 */
export async function findOuterProgram(
  name: string,
  searchPath: string,
  folders: readonly string[],
): Promise<OuterProgram> {
  const roots = realRoots(folders.flatMap(projectFolders));
  for (const folder of outerFolders(searchPath, roots)) {
    const path = await findProgram(name, folder);
    if (path !== undefined && !isInAny(path, roots)) return { path };
  }
  const leftOut = await findProgram(name, searchPath);
  return leftOut === undefined ? {} : { leftOut: resolve(leftOut) };
}

/**
 * A folder and all repositories around it: a submodule is in another one, and the files of a linked worktree are written by
 * those who work in the main one. The user's home is not a project, nor is a folder around it: the user's own programs are
 * there.
 */
function projectFolders(folder: string): readonly string[] {
  const home = realOf(homedir());
  const real = realOf(resolve(folder));
  const found = [folder, real];
  for (let around = real; !isPathIn(home, around); around = dirname(around)) {
    const dotGit = join(around, ".git");
    if (existsSync(dotGit)) found.push(around, ...mainWorktree(dotGit));
  }
  return found.filter((path) => !isPathIn(home, realOf(path)));
}

/** The main worktree of a linked one, whose `.git` is a file. */
function mainWorktree(dotGit: string): string[] {
  // Expected: it is a folder, or cannot be read.
  try {
    const file = lstatSync(dotGit);
    if (!file.isFile() || file.size > MAX_LINE) return [];
    const [, path] = /^gitdir: (.+)\/\.git\/worktrees\//.exec(readFileSync(dotGit, "utf8")) ?? [];
    return path === undefined ? [] : [resolve(dirname(dotGit), path)];
  } catch {
    return [];
  }
}

/** More than a path can be long. */
const MAX_LINE = 8192;

function realRoots(folders: readonly string[]): readonly string[] {
  return [...new Set(folders.flatMap((folder) => [resolve(folder), realOf(folder)]))];
}

/** By its own name as well: a link in a project can be changed at any time. */
function isInAny(path: string, roots: readonly string[]): boolean {
  const names = [resolve(path), realOf(path)];
  return roots.some((root) => names.some((name) => isPathIn(name, root)));
}

function isOfProject(folder: string): boolean {
  return folder.endsWith("/node_modules/.bin") || existsSync(join(dirname(folder), "pyvenv.cfg"));
}

function realOf(folder: string): string {
  // Expected: a folder that does not exist, from which nothing is started.
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
