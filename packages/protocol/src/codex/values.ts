import * as z from "zod/mini";
import { loose, maybe } from "./shape.ts";

/** One piece of what a user sends. */
export const CodexUserInput = z.union([
  loose({ type: z.literal("text"), text: z.string(), text_elements: z.optional(z.array(z.unknown())) }),
  loose({ type: z.literal("image"), url: z.string() }),
  loose({ type: z.literal("localImage"), path: z.string() }),
  loose({ type: z.literal("skill"), name: z.string(), path: z.string() }),
  loose({ type: z.literal("mention"), name: z.string(), path: z.string() }),
  loose({ type: z.string() }),
]);
export type CodexUserInput = z.output<typeof CodexUserInput>;

/** When Codex asks. With `untrusted` it asks before every command and every change of a file. */
export const CodexApprovalPolicy = z.union([
  z.enum(["untrusted", "on-request", "never"]),
  loose({ granular: loose({}) }),
]);
export type CodexApprovalPolicy = z.output<typeof CodexApprovalPolicy>;

/** The short name of a sandbox, as `thread/start` takes it. */
export const CodexSandboxMode = z.enum(["read-only", "workspace-write", "danger-full-access"]);
export type CodexSandboxMode = z.output<typeof CodexSandboxMode>;

/** What commands may touch, as `turn/start` takes it. */
export const CodexSandboxPolicy = z.discriminatedUnion("type", [
  loose({ type: z.literal("dangerFullAccess") }),
  loose({ type: z.literal("readOnly"), networkAccess: z.boolean() }),
  loose({ type: z.literal("externalSandbox"), networkAccess: z.enum(["restricted", "enabled"]) }),
  loose({
    type: z.literal("workspaceWrite"),
    writableRoots: z.array(z.string()),
    networkAccess: z.boolean(),
    excludeTmpdirEnvVar: z.boolean(),
    excludeSlashTmp: z.boolean(),
  }),
]);
export type CodexSandboxPolicy = z.output<typeof CodexSandboxPolicy>;

/** How to work: at once, or by making a plan first. */
export const CodexCollaborationMode = loose({
  mode: z.enum(["plan", "default"]),
  settings: loose({
    model: z.string(),
    reasoning_effort: z.nullable(z.string()),
    developer_instructions: z.nullable(z.string()),
  }),
});
export type CodexCollaborationMode = z.output<typeof CodexCollaborationMode>;

/** Why a turn failed. `codexErrorInfo` is a name, or an object with one name that holds an HTTP status. */
export const CodexTurnError = loose({
  message: z.string(),
  codexErrorInfo: z.optional(z.unknown()),
  additionalDetails: maybe(z.string()),
});
export type CodexTurnError = z.output<typeof CodexTurnError>;

/** A turn. Its items are not all there: each has events of its own. */
export const CodexTurn = loose({
  id: z.string(),
  status: z.string(),
  items: z.array(z.unknown()),
  error: maybe(CodexTurnError),
});
export type CodexTurn = z.output<typeof CodexTurn>;

/** A thread. */
export const CodexThread = loose({ id: z.string(), preview: z.string(), cwd: z.string() });
export type CodexThread = z.output<typeof CodexThread>;

/** Tokens; what was cached is part of the input, and reasoning is part of the output. */
export const CodexTokens = loose({
  totalTokens: z.number(),
  inputTokens: z.number(),
  cachedInputTokens: z.number(),
  cacheWriteInputTokens: z.optional(z.number()),
  outputTokens: z.number(),
  reasoningOutputTokens: z.number(),
});
export type CodexTokens = z.output<typeof CodexTokens>;

/** A model that Codex offers, with the reasoning efforts it knows. */
export const CodexModel = loose({
  id: z.string(),
  model: z.string(),
  displayName: z.string(),
  description: z.string(),
  hidden: z.boolean(),
  supportedReasoningEfforts: z.array(loose({ reasoningEffort: z.string(), description: z.string() })),
  defaultReasoningEffort: z.string(),
  supportsPersonality: z.optional(z.boolean()),
  isDefault: z.boolean(),
});
export type CodexModel = z.output<typeof CodexModel>;

/** What is to be reviewed. */
export const CodexReviewTarget = z.discriminatedUnion("type", [
  loose({ type: z.literal("uncommittedChanges") }),
  loose({ type: z.literal("baseBranch"), branch: z.string() }),
  loose({ type: z.literal("commit"), sha: z.string(), title: maybe(z.string()) }),
  loose({ type: z.literal("custom"), instructions: z.string() }),
]);
export type CodexReviewTarget = z.output<typeof CodexReviewTarget>;
