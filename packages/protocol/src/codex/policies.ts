import * as z from "zod/mini";
import type { SandboxPolicy } from "../approval/policy.ts";
import { foreignObject, nullish } from "../wire/loose-object.ts";

/**
 * The occasions on which Codex asks for approval. With `untrusted` it asks before every command and every
 * change of a file.
 */
export const CodexApprovalPolicy = z.union([
  z.enum(["untrusted", "on-request", "never"]),
  foreignObject({ granular: foreignObject({}) }),
]);

export type CodexApprovalPolicy = z.output<typeof CodexApprovalPolicy>;

/** The short name of a sandbox, as `thread/start` takes it. */
export const CodexSandboxMode = z.enum(["read-only", "workspace-write", "danger-full-access"]);

export type CodexSandboxMode = z.output<typeof CodexSandboxMode>;

/** A sandbox policy, as `turn/start` takes it. */
export const CodexSandboxPolicy = z.discriminatedUnion("type", [
  foreignObject({ type: z.literal("dangerFullAccess") }),
  foreignObject({ type: z.literal("readOnly"), networkAccess: z.boolean() }),
  foreignObject({ type: z.literal("externalSandbox"), networkAccess: z.enum(["restricted", "enabled"]) }),
  foreignObject({
    type: z.literal("workspaceWrite"),
    writableRoots: z.array(z.string()),
    networkAccess: z.boolean(),
    excludeTmpdirEnvVar: z.boolean(),
    excludeSlashTmp: z.boolean(),
  }),
]);

export type CodexSandboxPolicy = z.output<typeof CodexSandboxPolicy>;

/** A collaboration mode: default, or planning first. */
export const CodexCollaborationMode = foreignObject({
  mode: z.enum(["plan", "default"]),
  settings: foreignObject({
    model: z.string(),
    reasoning_effort: z.nullable(z.string()),
    developer_instructions: z.nullable(z.string()),
  }),
});

export type CodexCollaborationMode = z.output<typeof CodexCollaborationMode>;

/** A sandbox policy as clients may write it. */
export const CodexSandboxPolicyInput = z.discriminatedUnion("type", [
  foreignObject({ type: z.literal("dangerFullAccess") }),
  foreignObject({ type: z.literal("readOnly"), networkAccess: z.optional(z.boolean()) }),
  foreignObject({
    type: z.literal("externalSandbox"),
    networkAccess: z.optional(z.enum(["restricted", "enabled"])),
  }),
  foreignObject({
    type: z.literal("workspaceWrite"),
    writableRoots: z.optional(z.array(z.string())),
    networkAccess: z.optional(z.boolean()),
    excludeTmpdirEnvVar: z.optional(z.boolean()),
    excludeSlashTmp: z.optional(z.boolean()),
  }),
]);

export type CodexSandboxPolicyInput = z.output<typeof CodexSandboxPolicyInput>;

/** A collaboration mode as clients may write it. */
export const CodexCollaborationModeInput = foreignObject({
  mode: z.enum(["plan", "default"]),
  settings: foreignObject({ model: nullish(z.string()), reasoning_effort: nullish(z.string()) }),
});

/** A sandbox policy of Codex for one of Flint. */
export function codexSandboxPolicy(policy: SandboxPolicy): CodexSandboxPolicy {
  switch (policy.type) {
    case "dangerFullAccess":
      return { type: "dangerFullAccess" };
    case "readOnly":
      return { type: "readOnly", networkAccess: false };
    case "externalSandbox":
      return { type: "externalSandbox", networkAccess: policy.networkAccess ?? "restricted" };
    case "workspaceWrite":
      return {
        type: "workspaceWrite",
        writableRoots: policy.writableRoots ?? [],
        networkAccess: policy.networkAccess ?? false,
        excludeTmpdirEnvVar: false,
        excludeSlashTmp: false,
      };
  }
}
