import * as z from "zod/mini";
import { loose, maybe } from "../shape.ts";

/** One piece of what a user sends. */
export const CodexUserInput = z.discriminatedUnion("type", [
  loose({ type: z.literal("text"), text: z.string(), text_elements: z.optional(z.array(z.unknown())) }),
  loose({ type: z.literal("image"), url: z.string() }),
  loose({ type: z.literal("localImage"), path: z.string() }),
  loose({ type: z.literal("audio"), url: z.string() }),
  loose({ type: z.literal("localAudio"), path: z.string() }),
  loose({ type: z.literal("skill"), name: z.string(), path: z.string() }),
  loose({ type: z.literal("mention"), name: z.string(), path: z.string() }),
]);
export type CodexUserInput = z.output<typeof CodexUserInput>;

/** The same in an item, where a later Codex may have pieces that are not known here. */
export const CodexShownInput = z.union([CodexUserInput, loose({ type: z.string() })]);
export type CodexShownInput = z.output<typeof CodexShownInput>;

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

/** A sandbox as clients may write it: what they leave out is refused. */
export const CodexSandboxPolicyInput = z.discriminatedUnion("type", [
  loose({ type: z.literal("dangerFullAccess") }),
  loose({ type: z.literal("readOnly"), networkAccess: z.optional(z.boolean()) }),
  loose({
    type: z.literal("externalSandbox"),
    networkAccess: z.optional(z.enum(["restricted", "enabled"])),
  }),
  loose({
    type: z.literal("workspaceWrite"),
    writableRoots: z.optional(z.array(z.string())),
    networkAccess: z.optional(z.boolean()),
    excludeTmpdirEnvVar: z.optional(z.boolean()),
    excludeSlashTmp: z.optional(z.boolean()),
  }),
]);
export type CodexSandboxPolicyInput = z.output<typeof CodexSandboxPolicyInput>;

/** A way to work as clients may write it. */
export const CodexCollaborationModeInput = loose({
  mode: z.enum(["plan", "default"]),
  settings: loose({ model: maybe(z.string()), reasoning_effort: maybe(z.string()) }),
});

/** Why a turn failed. `codexErrorInfo` is a name, or an object with one name that holds an HTTP status. */
export const CodexTurnError = loose({
  message: z.string(),
  codexErrorInfo: z.optional(z.unknown()),
  additionalDetails: maybe(z.string()),
  misalignment: z.optional(z.unknown()),
});
export type CodexTurnError = z.output<typeof CodexTurnError>;

/** A turn. `itemsView` says how many of its items are there; each also has events of its own. Times are unix seconds. */
export const CodexTurn = loose({
  id: z.string(),
  status: z.string(),
  items: z.array(z.unknown()),
  error: maybe(CodexTurnError),
  rootTurnId: maybe(z.string()),
  itemsView: z.optional(z.enum(["notLoaded", "summary", "full"])),
  startedAt: maybe(z.number()),
  completedAt: maybe(z.number()),
  durationMs: maybe(z.number()),
});
export type CodexTurn = z.output<typeof CodexTurn>;

/** How much of a turn's items is wanted or there: none, the messages, or all. */
export type CodexItemsView = NonNullable<CodexTurn["itemsView"]>;

/** What a thread does. The flags belong to `active`. */
export const CodexThreadStatus = loose({
  type: z.string(),
  activeFlags: z.optional(z.array(z.string())),
});
export type CodexThreadStatus = z.output<typeof CodexThreadStatus>;

const place = { cwd: z.string(), runtimeWorkspaceRoots: z.array(z.string()) };

/** A thread. Its turns are there only where they were asked for. Times are unix seconds. */
export const CodexThread = loose({
  id: z.string(),
  preview: z.string(),
  cwd: z.string(),
  environments: maybe(z.array(loose({ environmentId: z.string(), ...place }))),
  extra: z.optional(z.unknown()),
  sessionId: z.optional(z.string()),
  forkedFromId: maybe(z.string()),
  parentThreadId: maybe(z.string()),
  ephemeral: z.optional(z.boolean()),
  section: z.optional(z.unknown()),
  sectionEnteredAt: maybe(z.number()),
  projectId: maybe(z.string()),
  historyMode: z.optional(z.string()),
  modelProvider: z.optional(z.string()),
  model: maybe(z.string()),
  reasoningEffort: maybe(z.string()),
  createdAt: z.optional(z.number()),
  updatedAt: z.optional(z.number()),
  recencyAt: maybe(z.number()),
  status: z.optional(CodexThreadStatus),
  path: maybe(z.string()),
  cliVersion: z.optional(z.string()),
  originator: maybe(z.string()),
  source: z.optional(z.unknown()),
  canAcceptDirectInput: maybe(z.boolean()),
  threadSource: maybe(z.string()),
  agentNickname: maybe(z.string()),
  agentRole: maybe(z.string()),
  gitInfo: z.optional(z.unknown()),
  name: maybe(z.string()),
  daybreakEnabled: maybe(z.boolean()),
  turns: z.optional(z.array(CodexTurn)),
});
export type CodexThread = z.output<typeof CodexThread>;

/** What a thread works with, as it is told when it changes. */
export const CodexThreadSettings = loose({
  disabledPluginIds: z.array(z.string()),
  cwd: z.string(),
  approvalPolicy: CodexApprovalPolicy,
  approvalsReviewer: z.string(),
  sandboxPolicy: CodexSandboxPolicy,
  activePermissionProfile: z.optional(z.unknown()),
  model: z.string(),
  modelProvider: z.string(),
  serviceTier: maybe(z.string()),
  effort: maybe(z.string()),
  summary: maybe(z.string()),
  collaborationMode: CodexCollaborationMode,
  multiAgentMode: z.optional(z.string()),
  personality: maybe(z.string()),
});
export type CodexThreadSettings = z.output<typeof CodexThreadSettings>;

/** What a thread is for. Times are unix seconds. */
export const CodexGoal = loose({
  threadId: z.string(),
  objective: z.string(),
  status: z.enum(["active", "paused", "blocked", "usageLimited", "budgetLimited", "complete"]),
  tokenBudget: z.nullable(z.number()),
  tokensUsed: z.number(),
  timeUsedSeconds: z.number(),
  createdAt: z.number(),
  updatedAt: z.number(),
});
export type CodexGoal = z.output<typeof CodexGoal>;

/** An input that waits for the running turn to end. */
export const CodexQueuedSubmission = loose({
  id: z.string(),
  input: z.array(CodexShownInput),
  clientUserMessageId: z.string(),
});
export type CodexQueuedSubmission = z.output<typeof CodexQueuedSubmission>;

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
  upgrade: maybe(z.string()),
  upgradeInfo: z.optional(z.unknown()),
  availabilityNux: z.optional(z.unknown()),
  modelSpecialty: maybe(z.string()),
  inputModalities: z.optional(z.array(z.string())),
  multiAgentVersion: maybe(z.string()),
  additionalSpeedTiers: z.optional(z.array(z.string())),
  serviceTiers: z.optional(z.array(z.unknown())),
  defaultServiceTier: maybe(z.string()),
  availableAccessPrograms: z.optional(z.unknown()),
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
