import { existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { isInside } from "../mechanisms/binds.ts";

/**
 * The folders of a search path from which a program may be started outside of the sandbox. Left out are those in which an
 * agent could have put one: in the folders given, relative ones, and those of a project's own tools, which npm and
 * virtual environments put first.
 */
export function outerSearchPath(searchPath: string, writable: readonly string[]): string {
  const roots = writable.map(realOf);
  const isOuter = (folder: string) => {
    if (!isAbsolute(folder)) return false;
    const real = realOf(folder);
    return !roots.some((root) => isInside(real, root)) && !isOfProject(real);
  };
  return searchPath.split(delimiter).filter(isOuter).join(delimiter);
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
