import { realpath } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";
import { FileAccessError, realPlaceOf } from "@flint/host/files";
import type { ThreadSettings } from "@flint/protocol";
import type { ToolContext } from "../tool.ts";

/** A file or folder that may be read, with all links resolved. */
export interface ReadablePath {
  readonly path: string;
  /** As it is shown: from the workspace if it lies in there. */
  readonly displayPath: string;
  readonly isInWorkspace: boolean;
}

/**
 * Finds what a model wants to read. Everything that a command could read can be read; where every action is asked
 * about, that holds for what lies outside of the workspace too. Throws a FileRefusal otherwise.
 */
export async function locateReadable(
  path: string,
  tool: string,
  { turn, itemId, signal }: ToolContext,
): Promise<ReadablePath> {
  const { cwd, approvalPolicy } = turn.settings;
  const place = await readablePath(await realPlaceOf(resolve(cwd, path), path), turn.settings);
  if (place.isInWorkspace || approvalPolicy !== "always") return place;
  const reason = `${place.path} lies outside of the workspace.`;
  const action = { kind: "tool" as const, itemId, tool, arguments: { path: place.path }, reason };
  const decision = await turn.approve(action);
  if (decision.outcome === "allow" && !signal.aborted) return place;
  throw new FileAccessError(decision.message ?? `The user does not want ${place.path} to be read.`);
}

/** A real path, as it is shown. */
export async function readablePath(path: string, settings: ThreadSettings): Promise<ReadablePath> {
  const { cwd, sandboxPolicy } = settings;
  const listed = sandboxPolicy.type === "workspaceWrite" ? (sandboxPolicy.writableRoots ?? []) : [];
  const [workspace = cwd, ...others] = await Promise.all([cwd, ...listed].map(realOrSame));
  const inside = pathWithin(workspace, path);
  if (inside !== undefined) return { path, displayPath: inside || ".", isInWorkspace: true };
  return {
    path,
    displayPath: path,
    isInWorkspace: others.some((root) => pathWithin(root, path) !== undefined),
  };
}

/** The way from a folder to what lies in it; empty for itself, undefined for what lies elsewhere. */
export function pathWithin(folder: string, path: string): string | undefined {
  const inside = relative(folder, path);
  if (inside === ".." || inside.startsWith(`..${sep}`) || resolve(inside) === inside) return undefined;
  return inside.split(sep).join("/");
}

function realOrSame(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
