import {
  type ApprovalPolicy,
  agentOfModel,
  type Budget,
  FlintError,
  type GitMode,
  isUnconfined,
  type SandboxPolicy,
  type ThreadSettings,
} from "@flint/protocol";
import { networkOf } from "../approval/network-gate.ts";

/** Settings that an administrator has locked: no thread may have settings that allow more. */
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

/** Order of the values by how much they allow; the highest allows most. */
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
  const { field, given, allowed, limit } = beyond;
  const message = `${field}: ${given} is not allowed. The administrator of this machine locked it to ${allowed} (${locks.source}).`;
  throw new FlintError("invalidParams", message, {
    ...{ field, lockedBy: locks.source },
    ...(limit === undefined ? {} : { limit }),
  });
}

interface Beyond {
  readonly field: string;
  readonly given: string;
  readonly allowed: string;
  /** The highest amount that is allowed, for one that is too high or missing. */
  readonly limit?: number;
}

function whatIsBeyond(settings: ThreadSettings, locks: SettingsLocks): Beyond | undefined {
  const { model, sandboxPolicy, git = "ask" } = settings;
  if (locks.agent !== undefined && agentOfModel(model) !== locks.agent)
    return { field: "agent", given: agentOfModel(model), allowed: locks.agent };
  if (locks.model !== undefined && model !== locks.model)
    return { field: "model", given: model, allowed: locks.model };
  const sandbox = locks.sandboxPolicy;
  const wider = sandbox === undefined ? undefined : widerPart(sandboxPolicy, sandbox);
  if (sandbox !== undefined && wider !== undefined)
    return { field: "sandbox", given: wider, allowed: sandbox.type };
  if (locks.git !== undefined && GIT_MODES[git] > GIT_MODES[locks.git])
    return { field: "git", given: git, allowed: locks.git };
  return (
    beyondApprovals(settings, locks.approvalPolicy) ??
    beyondHosts(settings, locks) ??
    beyondBudget(settings.budget, locks.budget)
  );
}

function beyondApprovals(settings: ThreadSettings, locked: ApprovalPolicy | undefined): Beyond | undefined {
  if (locked === undefined) return undefined;
  const { approvalPolicy, acceptEdits, acceptCommands } = settings;
  if (APPROVALS[approvalPolicy] > APPROVALS[locked])
    return { field: "approvalPolicy", given: approvalPolicy, allowed: locked };
  if (locked === "always" && acceptEdits === true)
    return { field: "acceptEdits", given: "true", allowed: "approvals of everything" };
  // Commands that are not known to be read-only are what these policies ask about.
  if (APPROVALS[locked] <= APPROVALS.unlessTrusted && acceptCommands === true)
    return { field: "acceptCommands", given: "true", allowed: `the approval policy ${locked}` };
  return undefined;
}

/** Returns the part of a sandbox that is wider than the locked one. */
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

function beyondHosts(settings: ThreadSettings, { hosts, sandboxPolicy }: SettingsLocks): Beyond | undefined {
  if (hosts === undefined) return undefined;
  const allowed = hosts.length === 0 ? "no host" : hosts.join(", ");
  const { type } = settings.sandboxPolicy;
  // Outside of Flint's sandbox no list of hosts holds, unless the administrator chose that too.
  const mayBeOpen = sandboxPolicy !== undefined && isUnconfined(sandboxPolicy);
  if (isUnconfined(settings.sandboxPolicy) && !mayBeOpen)
    return { field: "network", given: `all, which the sandbox ${type} allows,`, allowed };
  const network = networkOf(settings);
  if (network === undefined || network === "none") return undefined;
  const given = network === "all" ? "all" : network.hosts.find((host) => !hosts.includes(host));
  return given === undefined ? undefined : { field: "network", given, allowed };
}

/** The units that Flint counts itself; whether others are kept depends on the agent. */
const COUNTED: readonly string[] = ["seconds", "turns"];

function beyondBudget(budget: Budget | undefined, locked: Budget | undefined): Beyond | undefined {
  for (const [scope, unit, limit] of lockedAmounts(locked)) {
    const field = `budget.${scope}.${unit}`;
    const allowed = `at most ${limit}`;
    const amount = amountOf(budget?.[scope], unit);
    if (amount === undefined || amount > limit)
      return { field, given: amount === undefined ? "no limit" : String(amount), allowed, limit };
    const extended = scope === "thread" ? amountOf(budget?.extended, unit) : undefined;
    if (extended !== undefined && extended > limit)
      return { field, given: `its extension to ${extended}`, allowed };
    const isLoose = budget?.enforcement === "bestEffort" && locked?.enforcement !== "bestEffort";
    if (isLoose && !COUNTED.includes(unit))
      return { field: "budget.enforcement", given: "bestEffort", allowed: `limits that hold, by ${field}` };
  }
  return undefined;
}

/** The amount to which the administrator locked a limit, and the file that does; undefined if it is not locked. */
export function lockedLimit(
  locks: SettingsLocks | undefined,
  scope: "turn" | "thread",
  unit: string,
): { readonly limit: number; readonly source: string } | undefined {
  const limit = amountOf(locks?.budget?.[scope], unit);
  return limit === undefined || locks === undefined ? undefined : { limit, source: locks.source };
}

function lockedAmounts(locked: Budget | undefined): ["turn" | "thread", string, number][] {
  return (["turn", "thread"] as const).flatMap((scope) =>
    Object.keys(locked?.[scope] ?? {}).flatMap((unit): ["turn" | "thread", string, number][] => {
      const limit = amountOf(locked?.[scope], unit);
      return limit === undefined ? [] : [[scope, unit, limit]];
    }),
  );
}

function amountOf(limits: Readonly<Record<string, unknown>> | undefined, unit: string): number | undefined {
  const amount = limits?.[unit];
  return typeof amount === "number" ? amount : undefined;
}
