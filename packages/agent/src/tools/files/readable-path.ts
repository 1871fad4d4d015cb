import { resolve } from "node:path";
import { FileAccessError, realPathOf, realPathOrSame } from "@flint/host/files";
import { pathWithin } from "@flint/host/globs";
import type { ThreadSettings } from "@flint/protocol";
import type { ToolContext } from "../tool.ts";

/** A file or folder that may be read, with all links resolved. */
export interface ReadablePath {
  readonly path: string;
  /** Relative to the workspace if it is inside of it. */
  readonly displayPath: string;
  readonly isInWorkspace: boolean;
}

/**
 * Finds what a model wants to read. Everything that a command could read can be read; where every action needs approval,
 * so does what is outside of the workspace. Throws a FileAccessError otherwise.
 */
export async function locateReadable(
  path: string,
  tool: string,
  { turn, itemId, signal }: ToolContext,
): Promise<ReadablePath> {
  const { cwd, approvalPolicy } = turn.settings;
  const found = await readablePath(await realPathOf(resolve(cwd, path), path), turn.settings);
  if (found.isInWorkspace || approvalPolicy !== "always") return found;
  const reason = `${found.path} is outside of the workspace.`;
  const action = { kind: "tool" as const, itemId, tool, arguments: { path: found.path }, reason };
  const decision = await turn.approve(action);
  if (decision.outcome === "allow" && !signal.aborted) return found;
  throw new FileAccessError(decision.message ?? `The user declined reading ${found.path}.`);
}

/** Describes a resolved path. */
export async function readablePath(path: string, settings: ThreadSettings): Promise<ReadablePath> {
  const { cwd, sandboxPolicy } = settings;
  const listed = sandboxPolicy.type === "workspaceWrite" ? (sandboxPolicy.writableRoots ?? []) : [];
  const [workspace = cwd, ...others] = await Promise.all([cwd, ...listed].map(realPathOrSame));
  const inside = pathWithin(workspace, path);
  if (inside !== undefined) return { path, displayPath: inside || ".", isInWorkspace: true };
  return {
    path,
    displayPath: path,
    isInWorkspace: others.some((root) => pathWithin(root, path) !== undefined),
  };
}
