import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";

/** A path as it stands in its workspace, with `/` between names; undefined if it is not in it. */
export function inWorkspace(workspace: string, path: string): string | undefined {
  const inside = relative(workspace, resolve(workspace, path));
  if (inside === "" || inside === ".." || inside.startsWith(`..${sep}`)) return undefined;
  return inside.split(sep).join("/");
}

/** The same for where the links on the way lead to; undefined if that is elsewhere or cannot be known. */
export function reallyInWorkspace(workspace: string, path: string): string | undefined {
  const [root, target] = [realPathOf(workspace), realPathOf(resolve(workspace, path))];
  return root === undefined || target === undefined ? undefined : inWorkspace(root, target);
}

/** Where a path leads to, also if the last parts of it do not exist yet. */
function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    // Not there, or not to be looked at. A link that leads nowhere yet could lead anywhere later.
    if (isLink(path)) return undefined;
    if (dirname(path) === path) return path;
    const folder = realPathOf(dirname(path));
    return folder === undefined ? undefined : join(folder, basename(path));
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    // What is not there is no link.
    return false;
  }
}
