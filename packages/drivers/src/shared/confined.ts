import type { SandboxPolicy } from "@flint/protocol";

/** Whether a policy keeps what runs under it in Flint's sandbox. */
export function isConfined({ type }: SandboxPolicy): boolean {
  return type === "readOnly" || type === "workspaceWrite";
}
