import type { SessionModeState } from "@agentclientprotocol/sdk";
import { type ApprovalPolicy, FlintError, type SandboxPolicy } from "@flint/protocol";

/** The settings that a mode combines: what an agent may do, and when the user is asked. */
export interface Permissions {
  readonly approvalPolicy: ApprovalPolicy;
  readonly sandboxPolicy: SandboxPolicy;
}

interface Mode {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly approvalPolicy: ApprovalPolicy;
  readonly sandbox: "readOnly" | "workspaceWrite" | "dangerFullAccess";
}

const MODES: readonly Mode[] = [
  {
    id: "default",
    name: "Default",
    description: "Works in the project folder; asks before anything not known to be safe.",
    approvalPolicy: "unlessTrusted",
    sandbox: "workspaceWrite",
  },
  {
    id: "on-request",
    name: "On request",
    description: "Works in the project folder; asks only before what the sandbox does not allow.",
    approvalPolicy: "onRequest",
    sandbox: "workspaceWrite",
  },
  {
    id: "ask",
    name: "Always ask",
    description: "Works in the project folder; asks before every action.",
    approvalPolicy: "always",
    sandbox: "workspaceWrite",
  },
  {
    id: "auto",
    name: "Auto",
    description: "Works in the project folder without asking; commands run in the sandbox.",
    approvalPolicy: "never",
    sandbox: "workspaceWrite",
  },
  {
    id: "read-only",
    name: "Read only",
    description: "Reads files and changes nothing.",
    approvalPolicy: "unlessTrusted",
    sandbox: "readOnly",
  },
  {
    id: "full-access",
    name: "Full access",
    description: "No sandbox; asks before anything not known to be safe.",
    approvalPolicy: "unlessTrusted",
    sandbox: "dangerFullAccess",
  },
];

/** Offered only where it is in effect: it can be turned on only when the server is started. */
const UNCONFINED: Mode = {
  id: "unconfined",
  name: "Unconfined",
  description: "No sandbox and no approvals.",
  approvalPolicy: "never",
  sandbox: "dangerFullAccess",
};

const CUSTOM = "custom";

/** The available modes, and the one that these permissions amount to. */
export function modesOf(permissions: Permissions): SessionModeState {
  const modes = matches(UNCONFINED, permissions) ? [...MODES, UNCONFINED] : MODES;
  const current = modes.find((mode) => matches(mode, permissions));
  const availableModes = modes.map(({ id, name, description }) => ({ id, name, description }));
  if (current !== undefined) return { currentModeId: current.id, availableModes };
  const description = `Approval: ${permissions.approvalPolicy}. Sandbox: ${permissions.sandboxPolicy.type}.`;
  return {
    currentModeId: CUSTOM,
    availableModes: [...availableModes, { id: CUSTOM, name: "As configured", description }],
  };
}

/** The permissions of a mode for a thread that has the permissions `before`. Throws `invalidParams` for an unknown mode. */
export function permissionsOf(
  modeId: string,
  before: Permissions,
  additionalDirectories: readonly string[],
): Permissions {
  if (modeId === CUSTOM) return before;
  const mode = [...MODES, UNCONFINED].find(({ id }) => id === modeId);
  if (mode !== undefined) {
    return {
      approvalPolicy: mode.approvalPolicy,
      sandboxPolicy: sandboxOf(mode, before.sandboxPolicy, additionalDirectories),
    };
  }
  const known = MODES.map(({ id }) => id);
  const message = `Unknown mode ${JSON.stringify(modeId)}. Use one of: ${known.join(", ")}.`;
  throw new FlintError("invalidParams", message, { field: "modeId", known });
}

function matches({ approvalPolicy, sandbox }: Mode, permissions: Permissions): boolean {
  const { type } = permissions.sandboxPolicy;
  // In a sandbox of the user's own, the modes that write in the project folder apply.
  const confined = type === "externalSandbox" ? "workspaceWrite" : type;
  return approvalPolicy === permissions.approvalPolicy && sandbox === confined;
}

/** Returning to a mode restores the additional folders of its sandbox policy. */
function sandboxOf({ sandbox }: Mode, before: SandboxPolicy, roots: readonly string[]): SandboxPolicy {
  if (sandbox !== "workspaceWrite") return { type: sandbox };
  if (before.type === "workspaceWrite" || before.type === "externalSandbox") return before;
  return roots.length === 0 ? { type: sandbox } : { type: sandbox, writableRoots: [...roots] };
}
