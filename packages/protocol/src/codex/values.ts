import * as z from "zod/mini";
import { foreignObject, nullish } from "../wire/loose-object.ts";
import { CodexApprovalPolicy, CodexCollaborationMode, CodexSandboxPolicy } from "./policies.ts";

/** One part of a user's input. */
export const CodexUserInput = z.discriminatedUnion("type", [
  foreignObject({
    type: z.literal("text"),
    text: z.string(),
    text_elements: z.optional(z.array(z.unknown())),
  }),
  foreignObject({ type: z.literal("image"), url: z.string() }),
  foreignObject({ type: z.literal("localImage"), path: z.string() }),
  foreignObject({ type: z.literal("audio"), url: z.string() }),
  foreignObject({ type: z.literal("localAudio"), path: z.string() }),
  foreignObject({ type: z.literal("skill"), name: z.string(), path: z.string() }),
  foreignObject({ type: z.literal("mention"), name: z.string(), path: z.string() }),
]);
export type CodexUserInput = z.output<typeof CodexUserInput>;

/** The same in an item, where a later Codex may have pieces that are not known here. */
export const CodexShownInput = z.union([CodexUserInput, foreignObject({ type: z.string() })]);
export type CodexShownInput = z.output<typeof CodexShownInput>;

/**
 * The reason a turn failed. `codexErrorInfo` is a name, or an object with one name that holds an HTTP status.
 */
export const CodexTurnError = foreignObject({
  message: z.string(),
  codexErrorInfo: z.optional(z.unknown()),
  additionalDetails: nullish(z.string()),
  misalignment: z.optional(z.unknown()),
});
export type CodexTurnError = z.output<typeof CodexTurnError>;

/** A turn. `itemsView` states which of its items are included; each also has events of its own. Times are unix seconds. */
export const CodexTurn = foreignObject({
  id: z.string(),
  status: z.string(),
  items: z.array(z.unknown()),
  error: nullish(CodexTurnError),
  rootTurnId: nullish(z.string()),
  itemsView: z.optional(z.enum(["notLoaded", "summary", "full"])),
  startedAt: nullish(z.number()),
  completedAt: nullish(z.number()),
  durationMs: nullish(z.number()),
});
export type CodexTurn = z.output<typeof CodexTurn>;

/** The items of a turn that are requested or included: none, the messages, or all. */
export type CodexItemsView = NonNullable<CodexTurn["itemsView"]>;

/** The status of a thread. The flags belong to `active`. */
export const CodexThreadStatus = foreignObject({
  type: z.string(),
  activeFlags: z.optional(z.array(z.string())),
});
export type CodexThreadStatus = z.output<typeof CodexThreadStatus>;

const folders = { cwd: z.string(), runtimeWorkspaceRoots: z.array(z.string()) };

/** A thread. Its turns are included only on request. Times are unix seconds. */
export const CodexThread = foreignObject({
  id: z.string(),
  preview: z.string(),
  cwd: z.string(),
  environments: nullish(z.array(foreignObject({ environmentId: z.string(), ...folders }))),
  extra: z.optional(z.unknown()),
  sessionId: z.optional(z.string()),
  forkedFromId: nullish(z.string()),
  parentThreadId: nullish(z.string()),
  ephemeral: z.optional(z.boolean()),
  section: z.optional(z.unknown()),
  sectionEnteredAt: nullish(z.number()),
  projectId: nullish(z.string()),
  historyMode: z.optional(z.string()),
  modelProvider: z.optional(z.string()),
  model: nullish(z.string()),
  reasoningEffort: nullish(z.string()),
  createdAt: z.optional(z.number()),
  updatedAt: z.optional(z.number()),
  recencyAt: nullish(z.number()),
  status: z.optional(CodexThreadStatus),
  path: nullish(z.string()),
  cliVersion: z.optional(z.string()),
  originator: nullish(z.string()),
  source: z.optional(z.unknown()),
  canAcceptDirectInput: nullish(z.boolean()),
  threadSource: nullish(z.string()),
  agentNickname: nullish(z.string()),
  agentRole: nullish(z.string()),
  gitInfo: z.optional(z.unknown()),
  name: nullish(z.string()),
  daybreakEnabled: nullish(z.boolean()),
  turns: z.optional(z.array(CodexTurn)),
});
export type CodexThread = z.output<typeof CodexThread>;

/** The settings of a thread, as they are sent when they change. */
export const CodexThreadSettings = foreignObject({
  disabledPluginIds: z.array(z.string()),
  cwd: z.string(),
  approvalPolicy: CodexApprovalPolicy,
  approvalsReviewer: z.string(),
  sandboxPolicy: CodexSandboxPolicy,
  activePermissionProfile: z.optional(z.unknown()),
  model: z.string(),
  modelProvider: z.string(),
  serviceTier: nullish(z.string()),
  effort: nullish(z.string()),
  summary: nullish(z.string()),
  collaborationMode: CodexCollaborationMode,
  multiAgentMode: z.optional(z.string()),
  personality: nullish(z.string()),
});
export type CodexThreadSettings = z.output<typeof CodexThreadSettings>;

/** The goal of a thread. Times are unix seconds. */
export const CodexGoal = foreignObject({
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

/** An input that is queued for after the running turn. */
export const CodexQueuedSubmission = foreignObject({
  id: z.string(),
  input: z.array(CodexShownInput),
  clientUserMessageId: z.string(),
});
export type CodexQueuedSubmission = z.output<typeof CodexQueuedSubmission>;

/** Tokens; cached ones are part of the input, and reasoning is part of the output. */
export const CodexTokens = foreignObject({
  totalTokens: z.number(),
  inputTokens: z.number(),
  cachedInputTokens: z.number(),
  cacheWriteInputTokens: z.optional(z.number()),
  outputTokens: z.number(),
  reasoningOutputTokens: z.number(),
});
export type CodexTokens = z.output<typeof CodexTokens>;

/** A model that Codex offers, with the reasoning efforts it knows. */
export const CodexModel = foreignObject({
  id: z.string(),
  model: z.string(),
  displayName: z.string(),
  description: z.string(),
  hidden: z.boolean(),
  supportedReasoningEfforts: z.array(foreignObject({ reasoningEffort: z.string(), description: z.string() })),
  defaultReasoningEffort: z.string(),
  supportsPersonality: z.optional(z.boolean()),
  upgrade: nullish(z.string()),
  upgradeInfo: z.optional(z.unknown()),
  availabilityNux: z.optional(z.unknown()),
  modelSpecialty: nullish(z.string()),
  inputModalities: z.optional(z.array(z.string())),
  multiAgentVersion: nullish(z.string()),
  additionalSpeedTiers: z.optional(z.array(z.string())),
  serviceTiers: z.optional(z.array(z.unknown())),
  defaultServiceTier: nullish(z.string()),
  availableAccessPrograms: z.optional(z.unknown()),
  isDefault: z.boolean(),
});
export type CodexModel = z.output<typeof CodexModel>;

/** The subject of a review. */
export const CodexReviewTarget = z.discriminatedUnion("type", [
  foreignObject({ type: z.literal("uncommittedChanges") }),
  foreignObject({ type: z.literal("baseBranch"), branch: z.string() }),
  foreignObject({ type: z.literal("commit"), sha: z.string(), title: nullish(z.string()) }),
  foreignObject({ type: z.literal("custom"), instructions: z.string() }),
]);
export type CodexReviewTarget = z.output<typeof CodexReviewTarget>;

/** One run of a hook. Times are unix milliseconds. */
export const CodexHookRun = foreignObject({
  id: z.string(),
  eventName: z.string(),
  handlerType: z.optional(z.string()),
  executionMode: z.optional(z.string()),
  scope: z.optional(z.string()),
  sourcePath: z.optional(z.string()),
  source: z.optional(z.string()),
  displayOrder: z.optional(z.number()),
  status: z.string(),
  statusMessage: nullish(z.string()),
  startedAt: z.optional(z.number()),
  completedAt: nullish(z.number()),
  durationMs: nullish(z.number()),
  entries: z.optional(z.array(foreignObject({ kind: z.string(), text: z.string() }))),
});
export type CodexHookRun = z.output<typeof CodexHookRun>;
