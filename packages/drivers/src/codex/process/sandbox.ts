import { isUnconfined, type SandboxPolicy, type ThreadSettings } from "@flint/protocol";

/** What a process of Codex may write as a whole, whatever is accepted in it. */
export interface Wall {
  readonly policy: SandboxPolicy;
  /** The folder that the policy calls the workspace. */
  readonly workspace: string;
}

/** Where temporary files are in a process that is confined as a whole: a folder of its own is shown to it there. */
export const PRIVATE_TEMPORARY = "/tmp";

/** The one without walls. Whether the network may be reached is decided for each command, by Codex. */
export const NO_WALL: Wall = { policy: { type: "dangerFullAccess" }, workspace: "/" };

/** The wall around a thread with these settings. */
export function wallOf({ sandboxPolicy, cwd }: Pick<ThreadSettings, "sandboxPolicy" | "cwd">): Wall {
  return !isUnconfined(sandboxPolicy) ? { policy: sandboxPolicy, workspace: cwd } : NO_WALL;
}

/** The same for walls that let the same through: threads behind such share a process. */
export function wallKey({ policy, workspace }: Wall): string {
  const roots = policy.type === "workspaceWrite" ? [...(policy.writableRoots ?? [])].sort() : [];
  return JSON.stringify([policy.type, workspace, ...roots]);
}
