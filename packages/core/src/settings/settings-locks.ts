import {
  type ApprovalPolicy,
  agentOfModel,
  type Budget,
  FlintError,
  type GitMode,
  type SandboxPolicy,
  type ThreadSettings,
} from "@flint/protocol";

/** What an administrator has locked: no thread may have settings that allow more. */
export interface SettingsLocks {
  /** The file that locks them, for messages. */
  readonly source: string;
  readonly model?: string | undefined;
  readonly agent?: string | undefined;
  readonly approvalPolicy?: ApprovalPolicy | undefined;
  readonly sandboxPolicy?: SandboxPolicy | undefined;
  /** The only hosts that may be allowed without a question. */
  readonly hosts?: readonly string[] | undefined;
  readonly git?: GitMode | undefined;
  readonly budget?: Budget | undefined;
}

/** How much each value allows; what is higher allows more. */
export const APPROVALS = { never: 3, onRequest: 2, unlessTrusted: 1, always: 0 } as const satisfies Record<
  ApprovalPolicy,
  number
>;
export const SANDBOXES = {
  ...{ readOnly: 0, workspaceWrite: 1, externalSandbox: 2, dangerFullAccess: 3 },
} as const satisfies Record<SandboxPolicy["type"], number>;
export const GIT_MODES = { off: 0, ask: 1, auto: 2 } as const satisfies Record<GitMode, number>;

/** Throws `invalidParams` that names the lock, if settings allow more than they may. */
export function rejectBeyondLocks(settings: ThreadSettings, locks: SettingsLocks | undefined): void {
  if (locks === undefined) return;
  const beyond = whatIsBeyond(settings, locks);
  if (beyond === undefined) return;
  const { field, given, allowed } = beyond;
  const message = `${field}: ${given} is not allowed. The administrator of this machine locked it to ${allowed} (${locks.source}).`;
  throw new FlintError("invalidParams", message, { field, lockedBy: locks.source });
}

interface Beyond {
  readonly field: string;
  readonly given: string;
  readonly allowed: string;
}

function whatIsBeyond(settings: ThreadSettings, locks: SettingsLocks): Beyond | undefined {
  const { model, approvalPolicy, sandboxPolicy, git = "ask", acceptEdits } = settings;
  if (locks.agent !== undefined && agentOfModel(model) !== locks.agent)
    return { field: "agent", given: agentOfModel(model), allowed: locks.agent };
  if (locks.model !== undefined && model !== locks.model)
    return { field: "model", given: model, allowed: locks.model };
  const approval = locks.approvalPolicy;
  if (approval !== undefined && APPROVALS[approvalPolicy] > APPROVALS[approval])
    return { field: "approvalPolicy", given: approvalPolicy, allowed: approval };
  if (approval === "always" && acceptEdits === true)
    return { field: "acceptEdits", given: "true", allowed: `approvals of everything` };
  const sandbox = locks.sandboxPolicy;
  const wider = sandbox === undefined ? undefined : widerPart(sandboxPolicy, sandbox);
  if (sandbox !== undefined && wider !== undefined)
    return { field: "sandbox", given: wider, allowed: sandbox.type };
  if (locks.git !== undefined && GIT_MODES[git] > GIT_MODES[locks.git])
    return { field: "git", given: git, allowed: locks.git };
  return beyondHosts(settings, locks) ?? beyondBudget(settings.budget, locks.budget);
}

/** What of a sandbox is wider than the locked one. */
function widerPart(policy: SandboxPolicy, locked: SandboxPolicy): string | undefined {
  if (SANDBOXES[policy.type] > SANDBOXES[locked.type]) return policy.type;
  if (policy.type === "readOnly" && locked.type === "readOnly") {
    const isSame = policy.whenApproved === undefined || policy.whenApproved === locked.whenApproved;
    return isSame ? undefined : `readOnly with ${policy.whenApproved} once approved`;
  }
  if (policy.type !== "workspaceWrite" || locked.type !== "workspaceWrite") return undefined;
  if (policy.networkAccess === true && locked.networkAccess !== true) return "network access";
  const roots = locked.writableRoots ?? [];
  const other = policy.writableRoots?.find((root) => !roots.includes(root));
  return other === undefined ? undefined : `writing to ${other}`;
}

function beyondHosts({ network }: ThreadSettings, { hosts }: SettingsLocks): Beyond | undefined {
  if (hosts === undefined || network === undefined || network === "none") return undefined;
  const given = network === "all" ? "all" : network.hosts.find((host) => !hosts.includes(host));
  if (given === undefined) return undefined;
  return { field: "network", given, allowed: hosts.length === 0 ? "no host" : hosts.join(", ") };
}

function beyondBudget(budget: Budget | undefined, locked: Budget | undefined): Beyond | undefined {
  for (const scope of ["turn", "thread"] as const) {
    const given: Readonly<Record<string, unknown>> = { ...budget?.[scope] };
    for (const [unit, limit] of Object.entries({ ...locked?.[scope] })) {
      if (typeof limit !== "number") continue;
      const amount = given[unit];
      if (typeof amount === "number" && amount <= limit) continue;
      const shown = typeof amount === "number" ? String(amount) : "no limit";
      return { field: `budget.${scope}.${unit}`, given: shown, allowed: `at most ${limit}` };
    }
  }
  return undefined;
}
