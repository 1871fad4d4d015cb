import { dirname, resolve } from "node:path";
import type { ActionGuarantees } from "@flint/core/ports";
import { type Action, changedPaths, isPathIn, type ThreadSettings } from "@flint/protocol";
import { nearestFolder, TEMPORARY } from "./permissions.ts";

/** Folders in which an agent stores its own files, such as plans. Its sandbox lets it write some of them. */
const OWN_FOLDERS: readonly string[] = [".claude", ".codex"];

/** A change of files as the policy decides about it. */
export interface SandboxedChange {
  readonly action: Action;
  readonly guarantees: ActionGuarantees;
}

/**
 * A change of files that the agent itself makes in its sandbox, with the folders that the sandbox does not let it write.
 * The user can allow these for the thread; the agent gets them with its next process. An agent whose next process would not
 * know the conversation cannot go on with it, so then the user reads that the change will fail, and what would allow it.
 */
export async function sandboxedChange(
  action: Action,
  settings: ThreadSettings,
  canResume = true,
): Promise<SandboxedChange> {
  const unchanged = { action, guarantees: {} };
  if (action.kind !== "fileChange") return unchanged;
  const write = await foldersOutside(changedPaths(action), settings);
  if (write.length === 0) return unchanged;
  const guarantees = { changesInSandbox: true };
  if (canResume || settings.approvalPolicy === "never")
    return { action: { ...action, needs: { write: [...write] } }, guarantees };
  const options = write.map((folder) => `--add-dir ${folder}`).join(" ");
  const note = `The sandbox does not let the agent write ${write.join(", ")}, so this change will fail. ${options} allows it, but not in this session: the agent cannot resume one.`;
  const reason = [action.reason, note].filter((part) => part !== undefined).join(" ");
  return { action: { ...action, reason }, guarantees: {} };
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
