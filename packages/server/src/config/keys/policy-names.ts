import type { ApprovalPolicy, BudgetEnforcement, GitMode, SandboxPolicy } from "@flint/protocol";

/** Modes for commits that agents make in the sandbox. */
export const GIT_MODES = ["off", "ask", "auto"] as const satisfies readonly GitMode[];

/** Approval policies as the command line and configuration files write them, and the protocol's value of each. */
const APPROVALS = {
  never: "never",
  "on-request": "onRequest",
  "unless-trusted": "unlessTrusted",
  always: "always",
} as const satisfies Record<string, ApprovalPolicy>;

const SANDBOXES = {
  "read-only": "readOnly",
  "workspace-write": "workspaceWrite",
  "danger-full-access": "dangerFullAccess",
  "external-sandbox": "externalSandbox",
} as const satisfies Record<string, SandboxPolicy["type"]>;

const ENFORCEMENT_NAMES = {
  strict: "strict",
  "best-effort": "bestEffort",
} as const satisfies Record<string, BudgetEnforcement>;

/** The names of the ways to enforce limits. */
// Object.keys widens the keys of this table to strings.
export const ENFORCEMENTS = Object.keys(ENFORCEMENT_NAMES) as readonly (keyof typeof ENFORCEMENT_NAMES)[];

/** The protocol's value of a way to enforce limits. */
export function enforcementNamed(name: keyof typeof ENFORCEMENT_NAMES): BudgetEnforcement {
  return ENFORCEMENT_NAMES[name];
}

/** The name of an approval policy in kebab-case. */
export type ApprovalName = keyof typeof APPROVALS;
/** The name of a sandbox policy in kebab-case. */
export type SandboxName = keyof typeof SANDBOXES;

// Object.keys widens the keys of these tables to strings.
export const APPROVAL_NAMES = Object.keys(APPROVALS) as readonly ApprovalName[];
// As above.
export const SANDBOX_NAMES = Object.keys(SANDBOXES) as readonly SandboxName[];

/** The protocol's value of an approval policy. */
export function approvalPolicyNamed(name: ApprovalName): ApprovalPolicy {
  return APPROVALS[name];
}

/** The protocol's value of a sandbox policy, without further settings. */
export function sandboxPolicyNamed(name: SandboxName): SandboxPolicy {
  return { type: SANDBOXES[name] };
}
