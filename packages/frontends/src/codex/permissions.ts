import type { SandboxPolicy } from "@flint/protocol";
import { refused } from "./refusals.ts";

/** Codex only reads until it is allowed more, and then does what was approved. */
const READ_ONLY: SandboxPolicy = { type: "readOnly", whenApproved: "workspaceWrite" };

/** A sandbox as a client names it for its thread. */
function threadSandbox<Sandbox>(sandbox: Sandbox): Sandbox | SandboxPolicy {
  const { type = sandbox }: { readonly type?: unknown } = Object(sandbox);
  return type === "read-only" || type === "readOnly" ? READ_ONLY : sandbox;
}

/** The named sets of permissions that Codex has built in, and the sandbox that each one means. */
const PROFILES: ReadonlyMap<string, SandboxPolicy> = new Map<string, SandboxPolicy>([
  [":read-only", READ_ONLY],
  [":workspace", { type: "workspaceWrite", writableRoots: [], networkAccess: false }],
  [":danger-full-access", { type: "dangerFullAccess" }],
]);

/** The sets of permissions, as clients list them. */
export const PERMISSION_PROFILES = [...PROFILES.keys()].map((id) => ({
  id,
  description: null,
  allowed: true,
}));

/** Whether this is the sandbox of that set of permissions. */
export function isSandboxOf(id: string, sandbox: SandboxPolicy): boolean {
  return PROFILES.get(id)?.type === sandbox.type;
}

/** A client says what an agent may do by a set of permissions, or by a sandbox in the field of that name, not by both. */
export function sandboxWanted<Sandbox>(
  permissions: string | null | undefined,
  field: string,
  sandbox: Sandbox | null | undefined,
): { readonly sandbox?: Sandbox | SandboxPolicy } {
  if (permissions == null) return sandbox == null ? {} : { sandbox: threadSandbox(sandbox) };
  if (sandbox != null) throw refused(`\`permissions\` cannot be combined with \`${field}\``);
  return { sandbox: sandboxOfProfile(permissions) };
}

function sandboxOfProfile(id: string): SandboxPolicy {
  const sandbox = PROFILES.get(id);
  if (sandbox !== undefined) return sandbox;
  throw refused(
    `failed to load configuration: default_permissions refers to unknown built-in profile \`${id}\``,
  );
}
