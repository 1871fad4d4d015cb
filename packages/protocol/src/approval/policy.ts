import * as z from "zod/mini";
import { looseObject } from "../wire/loose-object.ts";

/**
 * The occasions on which the user is asked: never, if the agent needs more than the sandbox allows, unless
 * the action is known to be harmless, or always.
 */
export const ApprovalPolicy = z.enum(["never", "onRequest", "unlessTrusted", "always"]);
export type ApprovalPolicy = z.output<typeof ApprovalPolicy>;

/** The parts of the machine that the commands of a thread may touch. */
export const SandboxPolicy = z.discriminatedUnion("type", [
  looseObject(() => ({ type: z.literal("dangerFullAccess") })),
  looseObject(() => ({
    type: z.literal("readOnly"),
    /** The sandbox that applies to approved actions instead; absent if approval changes nothing. */
    whenApproved: z.optional(z.literal("workspaceWrite")),
  })),
  looseObject(() => ({
    type: z.literal("workspaceWrite"),
    writableRoots: z.optional(z.array(z.string())),
    networkAccess: z.optional(z.boolean()),
  })),
  looseObject(() => ({
    type: z.literal("externalSandbox"),
    networkAccess: z.optional(z.enum(["restricted", "enabled"])),
  })),
]);
export type SandboxPolicy = z.output<typeof SandboxPolicy>;

/** The policies under which Flint itself confines nothing. */
export type UnconfinedPolicy = Extract<SandboxPolicy, { type: "dangerFullAccess" | "externalSandbox" }>;
/** The policies that Flint's sandbox enforces. */
export type ConfinedPolicy = Exclude<SandboxPolicy, UnconfinedPolicy>;

const IS_UNCONFINED: Readonly<Record<SandboxPolicy["type"], boolean>> = {
  dangerFullAccess: true,
  readOnly: false,
  workspaceWrite: false,
  externalSandbox: true,
};

/** Reports whether Flint itself confines nothing under this policy. */
export function isUnconfined(policy: SandboxPolicy): policy is UnconfinedPolicy {
  return IS_UNCONFINED[policy.type];
}

/** Reports whether an agent may do anything without asking. False if either policy is unknown. */
export function isFullAccess(
  approvalPolicy: ApprovalPolicy | undefined,
  sandboxPolicy: SandboxPolicy | undefined,
): boolean {
  return approvalPolicy === "never" && sandboxPolicy !== undefined && isUnconfined(sandboxPolicy);
}

/** The folders beyond the workspace that a policy opens for writing. */
export function writableRootsOf(policy: SandboxPolicy): readonly string[] {
  return policy.type === "workspaceWrite" ? (policy.writableRoots ?? []) : [];
}

const SHORTHANDS = {
  readOnly: "readOnly",
  "read-only": "readOnly",
  workspaceWrite: "workspaceWrite",
  "workspace-write": "workspaceWrite",
  dangerFullAccess: "dangerFullAccess",
  "danger-full-access": "dangerFullAccess",
  externalSandbox: "externalSandbox",
  "external-sandbox": "externalSandbox",
} as const;

/** The short names of the sandbox policies, as real clients write them. */
export const SandboxShorthand = z.enum(
  Object.keys(SHORTHANDS) as [keyof typeof SHORTHANDS, ...(keyof typeof SHORTHANDS)[]],
);

/** A sandbox policy as a client may write it: the object, or only its name. */
export const SandboxPolicyInput = z.union([SandboxPolicy, SandboxShorthand]);
export type SandboxPolicyInput = z.output<typeof SandboxPolicyInput>;

/** The policy for an input. */
export function sandboxPolicyOf(input: SandboxPolicyInput): SandboxPolicy {
  return typeof input === "string" ? { type: SHORTHANDS[input] } : input;
}

/** The scope of an answer to an approval. */
export const DecisionScope = z.enum(["once", "session", "always"]);
export type DecisionScope = z.output<typeof DecisionScope>;

/**
 * The one answer to an approval; the decisions of every protocol map to it. `rule` is the id of a suggestion of the approval:
 * with it, consent for the session or for always covers the suggestion, without it exactly what was asked.
 */
export const Decision = looseObject(() => ({
  outcome: z.enum(["allow", "deny", "cancel"]),
  scope: z._default(DecisionScope, "once"),
  rule: z.optional(z.string()),
  message: z.optional(z.string().check(z.maxLength(10_000))),
}));
export type Decision = z.output<typeof Decision>;
