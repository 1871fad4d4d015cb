import { isAbsolute, relative, resolve } from "node:path";
import { type Action, changedPaths, isUnconfined, type SandboxPolicy } from "@flint/protocol";

/** The workspace of an action. */
interface Workspace {
  /** A real path. */
  readonly project: string;
  /** Resolves the links of a path. */
  realPath(path: string): string;
}

/**
 * Reports whether an action only changes files of the workspace. Hidden files are left out: among them are
 * those that configure agents, editors, shells and version control.
 */
export function isWorkspaceEdit(action: Action, workspace: Workspace): boolean {
  return isEditIn([workspace.project], action, workspace);
}

/**
 * Reports whether an action needs no more than the sandbox gives without approval: a command, or an edit of
 * files that are not hidden in the folders that the sandbox lets it write. Where Flint confines nothing,
 * nothing stays inside.
 */
export function isWithinSandbox(action: Action, workspace: Workspace, policy: SandboxPolicy): boolean {
  if (isUnconfined(policy) || action.needs !== undefined) return false;
  const isWritable = policy.type === "workspaceWrite";
  // A read-only sandbox that an approval opens holds nothing back once a command was not asked about.
  if (action.kind === "command") return isWritable || policy.whenApproved === undefined;
  if (!isWritable) return false;
  const roots = (policy.writableRoots ?? []).map((root) => workspace.realPath(root));
  return isEditIn([workspace.project, ...roots], action, workspace);
}

function isEditIn(folders: readonly string[], action: Action, { project, realPath }: Workspace): boolean {
  if (action.kind !== "fileChange" || action.needs !== undefined) return false;
  const paths = changedPaths(action).map((path) => realPath(resolve(project, path)));
  return paths.length > 0 && paths.every((path) => folders.some((folder) => isPlainPathIn(path, folder)));
}

function isPlainPathIn(path: string, folder: string): boolean {
  const inside = relative(folder, path);
  return inside !== "" && !isAbsolute(inside) && inside.split("/").every((name) => !name.startsWith("."));
}
