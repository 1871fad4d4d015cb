import { dirname, resolve } from "node:path";
import { type Action, changedPaths, isPathIn, type ThreadSettings } from "@flint/protocol";
import { nearestFolder, TEMPORARY } from "./permissions.ts";

/** Folders in which an agent stores its own files, such as plans. Its sandbox lets it write some of them. */
const OWN_FOLDERS: readonly string[] = [".claude", ".codex"];

/**
 * A change of files as the user is asked about it. The agent itself makes the change in its sandbox, and an approval does
 * not open that. If a file is outside of what the sandbox lets it write, the user reads that the change will fail and what
 * would allow it; with approvals off it is declined with the same option.
 */
export async function withSandboxNote(action: Action, settings: ThreadSettings): Promise<Action> {
  if (action.kind !== "fileChange") return action;
  const write = await foldersOutside(changedPaths(action), settings);
  if (write.length === 0) return action;
  if (settings.approvalPolicy === "never") return { ...action, needs: { write: [...write] } };
  const options = write.map((folder) => `--add-dir ${folder}`).join(" ");
  const note = `The sandbox does not let the agent write ${write.join(", ")}, so this change will fail. ${options} allows it.`;
  return { ...action, reason: [action.reason, note].filter((part) => part !== undefined).join(" ") };
}

/** The folders of files that are outside of all roots of the sandbox. */
async function foldersOutside(
  paths: readonly string[],
  { cwd, sandboxPolicy }: ThreadSettings,
): Promise<readonly string[]> {
  if (sandboxPolicy.type !== "workspaceWrite") return [];
  const open = [cwd, ...(sandboxPolicy.writableRoots ?? []), TEMPORARY];
  const roots = await Promise.all(open.map(nearestFolder));
  const folders = await Promise.all(paths.map((path) => nearestFolder(dirname(resolve(cwd, path)))));
  const outside = folders.filter((folder) => !roots.some((root) => isPathIn(folder, root)));
  const foreign = outside.filter((folder) => !folder.split("/").some((name) => OWN_FOLDERS.includes(name)));
  return [...new Set(foreign)].sort();
}
