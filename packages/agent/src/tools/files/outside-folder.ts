import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { FileAccessError } from "@flint/host/files";
import { folderIdentity } from "@flint/host/folder-identity";
import type { ToolContext } from "../tool.ts";

/** A folder outside of the writable ones that a file tool may write if the user allows it. */
export interface OutsideFolder {
  /** Free of links. */
  readonly path: string;
  /** Identity of the folder; another one in its place is not written. */
  readonly identity: string;
}

/**
 * The nearest folder around a file that exists and that an approval can open. Throws a FileAccessError if there is none, as
 * for settings of agents, files of shells and of version control, and folders of the system.
 */
export async function outsideFolder(
  file: string,
  { turn, sandbox }: Pick<ToolContext, "turn" | "sandbox">,
): Promise<OutsideFolder | undefined> {
  const { cwd, sandboxPolicy } = turn.settings;
  if (sandboxPolicy.type !== "workspaceWrite") return undefined;
  const found = await sandbox.resolveWritable?.(await nearestFolder(dirname(file)), cwd);
  if (found === undefined) return undefined;
  if ("problem" in found) throw new FileAccessError(`${file} is not in a writable folder: ${found.problem}.`);
  const identity = folderIdentity(found.path);
  return identity === undefined ? undefined : { path: found.path, identity };
}

async function nearestFolder(path: string): Promise<string> {
  // Expected: it does not exist yet.
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() === true || dirname(path) === path) return path;
  return nearestFolder(dirname(path));
}
