import { dirname } from "node:path";
import { isPathIn } from "@flint/protocol";
import { isProtectedName as isProtectedAtTop } from "../../sandbox/paths/protected-names.ts";
import type { Disk } from "./disk.ts";

/** The root that contains a path; a root does not contain itself. */
export function rootOf(path: string, roots: readonly string[]): string | undefined {
  return roots.find((root) => path !== root && isPathIn(path, root));
}

/** The path segments from a root to a path in it. */
export function namesWithin(path: string, root: string): readonly string[] {
  return path.slice(root === "/" ? 1 : root.length + 1).split("/");
}

/**
 * Reports whether a path configures version control, agents, editors or shells; those are never saved and
 * never written.
 */
export function isProtected(path: string, root: string): boolean {
  return namesWithin(path, root).some((name, depth) => isProtectedName(name, depth === 0));
}

/**
 * Reports whether a name is protected. Version control is protected at any depth, the rest at the top of a
 * workspace.
 */
export function isProtectedName(name: string, isAtTop: boolean): boolean {
  if (!name.startsWith(".")) return false;
  return isAtTop ? isProtectedAtTop(name) : name.toLowerCase() === ".git";
}

/**
 * Reports whether a path that was read from a file stays below its root, without empty, `.` or `..` segments.
 */
export function isNormalized(path: string, root: string): boolean {
  return namesWithin(path, root).every((name) => name !== "" && name !== "." && name !== "..");
}

/** Resolves the links in the parents of a path, as far as they exist. A link at the end is not followed. */
export function resolveParent(disk: Disk, path: string): string {
  const parent = dirname(path);
  if (parent === path) return path;
  const name = path.slice(path.lastIndexOf("/") + 1);
  const real = realFolder(disk, parent) ?? resolveParent(disk, parent);
  return real === "/" ? `/${name}` : `${real}/${name}`;
}

/** The real paths of the folders that exist, without those inside another. */
export function realRoots(disk: Disk, roots: readonly string[]): readonly string[] {
  const real = [...new Set(roots.flatMap((root) => realFolder(disk, root) ?? []))];
  return real.filter((root) => !real.some((other) => other !== root && isPathIn(root, other)));
}

function realFolder(disk: Disk, path: string): string | undefined {
  try {
    return disk.realPath(path);
  } catch {
    // It does not exist, or is not accessible.
    return undefined;
  }
}
