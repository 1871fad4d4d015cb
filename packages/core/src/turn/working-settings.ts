import type { SandboxPolicy, ThreadSettings } from "@flint/protocol";

const WORKSPACE: SandboxPolicy = { type: "workspaceWrite", writableRoots: [], networkAccess: false };

/**
 * The settings that an agent works with. A thread that only reads until somebody approves more lets its agent write in the
 * workspace where each such action is asked about first. Where nobody is asked, or the agent would not ask, it only reads.
 */
export function workingSettings(settings: ThreadSettings, asksToWrite: boolean): ThreadSettings {
  const { approvalPolicy, sandboxPolicy } = settings;
  const mayBeAllowed = sandboxPolicy.type === "readOnly" && sandboxPolicy.whenApproved === "workspaceWrite";
  if (!mayBeAllowed || !asksToWrite || approvalPolicy === "never") return settings;
  return { ...settings, sandboxPolicy: WORKSPACE };
}
