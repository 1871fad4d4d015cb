import { dirname } from "node:path";
import { isInside } from "../../sandbox/mechanisms/confinement.ts";
import { isProtectedName as isProtectedAtTop } from "../../sandbox/paths/protected-names.ts";
import type { Disk } from "./disk.ts";

/** The root that a path lies in, and is not itself. */
export function rootOf(path: string, roots: readonly string[]): string | undefined {
  return roots.find((root) => path !== root && isInside(path, root));
}

/** The names that lead from a root to a path in it. */
export function namesWithin(path: string, root: string): readonly string[] {
  return path.slice(root === "/" ? 1 : root.length + 1).split("/");
}

/** Whether a path is version control, or steers agents, editors or shells: those are never saved and never written. */
export function isProtected(path: string, root: string): boolean {
  return namesWithin(path, root).some((name, depth) => isProtectedName(name, depth === 0));
}

/** The same for one name. Only version control is protected at any depth, the others at the top of a workspace. */
export function isProtectedName(name: string, isAtTop: boolean): boolean {
  if (!name.startsWith(".")) return false;
  return isAtTop ? isProtectedAtTop(name) : name.toLowerCase() === ".git";
}

/** Whether a path that was read from a file names a place below its root and nothing else. */
export function isPlain(path: string, root: string): boolean {
  return namesWithin(path, root).every((name) => name !== "" && name !== "." && name !== "..");
}

/** The path with the links on the way to it resolved as far as it exists; a link at its end stays. */
export function realPlace(disk: Disk, path: string): string {
  const parent = dirname(path);
  if (parent === path) return path;
  const name = path.slice(path.lastIndexOf("/") + 1);
  const real = realFolder(disk, parent) ?? realPlace(disk, parent);
  return real === "/" ? `/${name}` : `${real}/${name}`;
}

/** The folders that exist, without links, and without those that lie inside another. */
export function realRoots(disk: Disk, roots: readonly string[]): readonly string[] {
  const real = [...new Set(roots.flatMap((root) => realFolder(disk, root) ?? []))];
  return real.filter((root) => !real.some((other) => other !== root && isInside(root, other)));
}

function realFolder(disk: Disk, path: string): string | undefined {
  try {
    return disk.realPath(path);
  } catch {
    // It does not exist, or is kept from us.
    return undefined;
  }
}
