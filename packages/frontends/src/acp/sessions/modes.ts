import type { SessionModeState } from "@agentclientprotocol/sdk";
import { type ApprovalPolicy, FlintError, type SandboxPolicy } from "@flint/protocol";

/** What an agent may do, and when the user is asked: the two settings that a mode stands for. */
export interface Permits {
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
    description: "Works in the folder; asks before anything that is not known to be harmless.",
    approvalPolicy: "unlessTrusted",
    sandbox: "workspaceWrite",
  },
  {
    id: "ask",
    name: "Ask always",
    description: "Works in the folder; asks before every action.",
    approvalPolicy: "always",
    sandbox: "workspaceWrite",
  },
  {
    id: "auto",
    name: "Auto",
    description: "Works in the folder without asking; commands stay in the sandbox.",
    approvalPolicy: "never",
    sandbox: "workspaceWrite",
  },
  {
    id: "read-only",
    name: "Read only",
    description: "Looks at everything and changes nothing.",
    approvalPolicy: "unlessTrusted",
    sandbox: "readOnly",
  },
  {
    id: "full-access",
    name: "Full access",
    description: "Nothing is confined; asks before anything that is not known to be harmless.",
    approvalPolicy: "unlessTrusted",
    sandbox: "dangerFullAccess",
  },
];

/** Offered only where it is in force, for only whoever starts the server can have wanted it. */
const UNCONFINED: Mode = {
  id: "unconfined",
  name: "Unconfined",
  description: "Nothing is confined, and nobody is asked.",
  approvalPolicy: "never",
  sandbox: "dangerFullAccess",
};

const CUSTOM = "custom";

/** The modes there are, and the one that settings amount to. */
export function modesOf(permits: Permits): SessionModeState {
  const modes = fits(UNCONFINED, permits) ? [...MODES, UNCONFINED] : MODES;
  const current = modes.find((mode) => fits(mode, permits));
  const availableModes = modes.map(({ id, name, description }) => ({ id, name, description }));
  if (current !== undefined) return { currentModeId: current.id, availableModes };
  const description = `Asks: ${permits.approvalPolicy}. Sandbox: ${permits.sandboxPolicy.type}.`;
  return {
    currentModeId: CUSTOM,
    availableModes: [...availableModes, { id: CUSTOM, name: "As configured", description }],
  };
}

/** What a mode means for a thread that works with these settings. Throws `invalidParams` for a mode nobody offers. */
export function permitsOf(modeId: string, now: Permits, roots: readonly string[]): Permits {
  if (modeId === CUSTOM) return now;
  const mode = [...MODES, UNCONFINED].find(({ id }) => id === modeId);
  if (mode !== undefined) {
    return { approvalPolicy: mode.approvalPolicy, sandboxPolicy: sandboxOf(mode, now.sandboxPolicy, roots) };
  }
  const known = MODES.map(({ id }) => id);
  const message = `There is no mode ${JSON.stringify(modeId)}. Choose one of: ${known.join(", ")}.`;
  throw new FlintError("invalidParams", message, { field: "modeId", known });
}

function fits({ approvalPolicy, sandbox }: Mode, permits: Permits): boolean {
  const { type } = permits.sandboxPolicy;
  // Whoever confines Flint from outside gets the modes that write in the folder.
  const confined = type === "externalSandbox" ? "workspaceWrite" : type;
  return approvalPolicy === permits.approvalPolicy && sandbox === confined;
}

/** What else a sandbox policy says, such as further folders, stays when the mode comes back to it. */
function sandboxOf({ sandbox }: Mode, now: SandboxPolicy, roots: readonly string[]): SandboxPolicy {
  if (sandbox !== "workspaceWrite") return { type: sandbox };
  if (now.type === "workspaceWrite" || now.type === "externalSandbox") return now;
  return roots.length === 0 ? { type: sandbox } : { type: sandbox, writableRoots: [...roots] };
}
