import { isAbsolute, relative, resolve } from "node:path";
import { type Action, changedPaths } from "@flint/protocol";

/**
 * Whether an action only changes files of the workspace. Hidden files are left out: among them are those that configure
 * agents, editors, shells and version control.
 */
export function isWorkspaceEdit(
  action: Action,
  { project, realPath }: { readonly project: string; realPath(path: string): string },
): boolean {
  if (action.kind !== "fileChange" || action.needs !== undefined) return false;
  const paths = changedPaths(action);
  return paths.length > 0 && paths.every((path) => isPlainPathIn(realPath(resolve(project, path)), project));
}

function isPlainPathIn(path: string, folder: string): boolean {
  const inside = relative(folder, path);
  return inside !== "" && !isAbsolute(inside) && inside.split("/").every((name) => !name.startsWith("."));
}
