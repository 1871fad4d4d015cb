import * as z from "zod/mini";
import { foreignObject, nullish } from "../wire/loose-object.ts";
import { request } from "../wire/vocabulary.ts";
import { CODEX_ACCOUNT_REQUESTS } from "./account-requests.ts";
import {
  CodexApprovalPolicy,
  CodexCollaborationMode,
  CodexSandboxMode,
  CodexSandboxPolicy,
} from "./policies.ts";
import { CodexModel, CodexReviewTarget, CodexThread, CodexTurn, CodexUserInput } from "./values.ts";

/** Params of every request of a thread. */
export const ofThread = { threadId: z.string() };
/** Params that select one page of a list. */
export const page = { cursor: nullish(z.string()), limit: nullish(z.int().check(z.minimum(0))) };
/** A command that a thread left running. */
export const CodexBackgroundTerminal = foreignObject({
  itemId: z.string(),
  processId: z.string(),
  command: z.string(),
  cwd: z.string(),
  osPid: z.nullable(z.number()),
  cpuPercent: z.nullable(z.number()),
  rssKb: z.nullable(z.number()),
});
/** An experimental feature of Codex. */
const CodexFeature = foreignObject({
  name: z.string(),
  stage: z.string(),
  displayName: nullish(z.string()),
  description: nullish(z.string()),
  announcement: nullish(z.string()),
  enabled: z.boolean(),
  defaultEnabled: z.boolean(),
});
/** A skill of Codex. */
const CodexSkill = foreignObject({
  name: z.string(),
  description: z.string(),
  shortDescription: nullish(z.string()),
  interface: nullish(
    foreignObject({ displayName: nullish(z.string()), shortDescription: nullish(z.string()) }),
  ),
  path: z.string(),
  scope: z.string(),
  enabled: z.boolean(),
});
/** The skills of one folder. */
const CodexFolderSkills = foreignObject({
  cwd: z.string(),
  skills: z.array(CodexSkill),
  errors: z.array(foreignObject({ path: z.string(), message: z.string() })),
});
const listErrors = z.array(foreignObject({ path: z.string(), message: z.string() }));
/** A hook of Codex. */
const CodexHook = foreignObject({
  key: z.string(),
  eventName: z.string(),
  source: z.string(),
  enabled: z.boolean(),
  command: nullish(z.string()),
});
/** A source of Codex's plugins. */
const CodexMarketplace = foreignObject({
  name: z.string(),
  path: nullish(z.string()),
  plugins: z.array(
    foreignObject({ id: z.string(), name: z.string(), installed: z.boolean(), enabled: z.boolean() }),
  ),
});
const marketplaces = {
  marketplaces: z.array(CodexMarketplace),
  marketplaceLoadErrors: z.array(foreignObject({ marketplacePath: z.string(), message: z.string() })),
};
/** An empty answer. */
export const nothing = () => foreignObject({});

/** The settings with which a thread is started or resumed. */
const opening = {
  model: nullish(z.string()),
  cwd: nullish(z.string()),
  approvalPolicy: nullish(CodexApprovalPolicy),
  approvalsReviewer: nullish(z.string()),
  sandbox: nullish(CodexSandboxMode),
  permissions: nullish(z.string()),
  config: nullish(z.record(z.string(), z.unknown())),
  developerInstructions: nullish(z.string()),
};

/** Forks of Codex 0.166 have none. */
const personality = nullish(z.string());

const DynamicFunction = {
  type: z.optional(z.literal("function")),
  name: z.string(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
};

/** A tool that a client offers, or several under one name. An older client names the namespace in the tool. */
export const CodexDynamicTool = z.union([
  foreignObject({
    type: z.literal("namespace"),
    name: z.string(),
    description: z.string(),
    tools: z.array(foreignObject(DynamicFunction)),
  }),
  foreignObject({ ...DynamicFunction, namespace: nullish(z.string()) }),
]);
export type CodexDynamicTool = z.output<typeof CodexDynamicTool>;

/** The settings of a turn and every later one. */
const working = {
  cwd: nullish(z.string()),
  approvalPolicy: nullish(CodexApprovalPolicy),
  approvalsReviewer: nullish(z.string()),
  sandboxPolicy: nullish(CodexSandboxPolicy),
  permissions: nullish(z.string()),
  model: nullish(z.string()),
  effort: nullish(z.string()),
  summary: nullish(z.enum(["auto", "concise", "detailed", "none"])),
  personality: nullish(z.string()),
  collaborationMode: nullish(CodexCollaborationMode),
};

/** A thread with its settings. */
const OpenedThread = () =>
  foreignObject({
    thread: CodexThread,
    model: z.string(),
    modelProvider: z.optional(z.string()),
    serviceTier: nullish(z.string()),
    disabledPluginIds: z.optional(z.array(z.string())),
    cwd: z.optional(z.string()),
    runtimeWorkspaceRoots: z.optional(z.array(z.string())),
    instructionSources: z.optional(z.array(z.string())),
    approvalPolicy: z.optional(CodexApprovalPolicy),
    approvalsReviewer: z.optional(z.string()),
    sandbox: z.optional(CodexSandboxPolicy),
    activePermissionProfile: z.optional(z.unknown()),
    reasoningEffort: nullish(z.string()),
    multiAgentMode: z.optional(z.string()),
    collaborationMode: nullish(CodexCollaborationMode),
    initialTurnsPage: z.optional(z.unknown()),
    turnsBackwardsCursor: nullish(z.string()),
    itemsBackwardsCursor: nullish(z.string()),
  });

/** Every request to Codex that Flint's driver sends. */
export const CODEX_REQUESTS = {
  initialize: request(
    "Initializes the connection. Must be the first request.",
    () =>
      foreignObject({
        clientInfo: foreignObject({ name: z.string(), title: nullish(z.string()), version: z.string() }),
        capabilities: nullish(
          foreignObject({
            experimentalApi: z.optional(z.boolean()),
            requestAttestation: z.optional(z.boolean()),
            optOutNotificationMethods: nullish(z.array(z.string())),
          }),
        ),
      }),
    () =>
      foreignObject({
        userAgent: z.string(),
        codexHome: z.optional(z.string()),
        platformFamily: z.optional(z.string()),
        platformOs: z.optional(z.string()),
      }),
  ),
  "thread/start": request(
    "Starts a thread.",
    () =>
      foreignObject({
        ...opening,
        personality,
        ephemeral: nullish(z.boolean()),
        dynamicTools: nullish(z.array(CodexDynamicTool)),
      }),
    OpenedThread,
  ),
  "thread/resume": request(
    "Resumes a thread.",
    () => foreignObject({ ...ofThread, ...opening, personality, excludeTurns: z.optional(z.boolean()) }),
    OpenedThread,
  ),
  "thread/fork": request(
    "Forks a thread.",
    () =>
      foreignObject({
        ...ofThread,
        ...opening,
        lastTurnId: nullish(z.string()),
        beforeTurnId: nullish(z.string()),
      }),
    OpenedThread,
  ),
  "thread/settings/update": request(
    "Changes the settings of later turns.",
    () => foreignObject({ ...ofThread, ...working }),
    nothing,
  ),
  "thread/compact/start": request(
    "Starts a turn that compacts the context.",
    () => foreignObject(ofThread),
    nothing,
  ),
  "thread/unsubscribe": request(
    "Unsubscribes from a thread.",
    () => foreignObject(ofThread),
    () => foreignObject({ status: z.optional(z.string()) }),
  ),
  "thread/backgroundTerminals/list": request(
    "Lists the commands that a thread left running.",
    () => foreignObject({ ...ofThread, ...page }),
    () => foreignObject({ data: z.array(CodexBackgroundTerminal), nextCursor: z.nullable(z.string()) }),
  ),
  "thread/backgroundTerminals/terminate": request(
    "Ends one of the commands that a thread left running.",
    () => foreignObject({ ...ofThread, processId: z.string() }),
    () => foreignObject({ terminated: z.boolean() }),
  ),
  "thread/backgroundTerminals/clean": request(
    "Ends the commands that a thread left running.",
    () => foreignObject(ofThread),
    nothing,
  ),
  "turn/start": request(
    "Starts a turn.",
    () =>
      foreignObject({
        ...ofThread,
        ...working,
        input: z.array(CodexUserInput),
        outputSchema: z.optional(z.unknown()),
      }),
    () => foreignObject({ turn: CodexTurn }),
  ),
  "turn/steer": request(
    "Adds input to the running turn.",
    () =>
      foreignObject({
        ...ofThread,
        input: z.array(CodexUserInput),
        expectedTurnId: z.string(),
      }),
    () => foreignObject({ turnId: z.string() }),
  ),
  "turn/interrupt": request(
    "Interrupts a turn.",
    () => foreignObject({ ...ofThread, turnId: z.string() }),
    nothing,
  ),
  "review/start": request(
    "Starts a turn that reviews changes.",
    () => foreignObject({ ...ofThread, target: CodexReviewTarget, delivery: nullish(z.string()) }),
    () => foreignObject({ turn: CodexTurn, reviewThreadId: z.string() }),
  ),
  "model/list": request(
    "Lists models.",
    () => foreignObject({ ...page, includeHidden: nullish(z.boolean()) }),
    () => foreignObject({ data: z.array(CodexModel), nextCursor: nullish(z.string()) }),
  ),
  "experimentalFeature/list": request(
    "Lists experimental features.",
    () => foreignObject(page),
    () => foreignObject({ data: z.array(CodexFeature), nextCursor: nullish(z.string()) }),
  ),
  "skills/list": request(
    "Lists skills by folder.",
    () => foreignObject({ cwds: nullish(z.array(z.string())), forceReload: nullish(z.boolean()) }),
    () => foreignObject({ data: z.array(CodexFolderSkills) }),
  ),
  "hooks/list": request(
    "Lists hooks by folder.",
    () => foreignObject({ cwds: nullish(z.array(z.string())), threadId: nullish(z.string()) }),
    () =>
      foreignObject({
        data: z.array(
          foreignObject({
            cwd: z.string(),
            hooks: z.array(CodexHook),
            warnings: z.array(z.string()),
            errors: listErrors,
          }),
        ),
      }),
  ),
  "plugin/list": request(
    "Lists the plugins of marketplaces.",
    () => foreignObject({ cwds: nullish(z.array(z.string())) }),
    () => foreignObject({ ...marketplaces, featuredPluginIds: z.array(z.string()) }),
  ),
  "plugin/installed": request(
    "Lists the plugins that are installed.",
    () => foreignObject({ cwds: nullish(z.array(z.string())) }),
    () => foreignObject(marketplaces),
  ),
  ...CODEX_ACCOUNT_REQUESTS,
  "mcpServerStatus/list": request(
    "Lists the MCP servers and their status.",
    () => foreignObject({ ...page, detail: nullish(z.string()), threadId: nullish(z.string()) }),
    () =>
      foreignObject({
        data: z.array(
          foreignObject({
            name: z.string(),
            runtimeStatus: nullish(z.string()),
            toolsError: nullish(z.string()),
          }),
        ),
        nextCursor: nullish(z.string()),
      }),
  ),
} as const;

/** The name of a request to Codex. */
export type CodexRequest = keyof typeof CODEX_REQUESTS;
/** Params of a request to Codex. */
export type CodexParams<Name extends CodexRequest> = z.input<(typeof CODEX_REQUESTS)[Name]["params"]>;
/** Result of a request to Codex. */
export type CodexResult<Name extends CodexRequest> = z.output<(typeof CODEX_REQUESTS)[Name]["result"]>;
