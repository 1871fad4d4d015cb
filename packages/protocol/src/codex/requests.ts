import * as z from "zod/mini";
import { loose, maybe, request } from "../shape.ts";
import {
  CodexApprovalPolicy,
  CodexCollaborationMode,
  CodexModel,
  CodexReviewTarget,
  CodexSandboxMode,
  CodexSandboxPolicy,
  CodexThread,
  CodexTurn,
  CodexUserInput,
} from "./values.ts";

/** What every request of a thread takes. */
export const ofThread = { threadId: z.string() };
/** Which part of a list is wanted. */
export const page = { cursor: maybe(z.string()), limit: maybe(z.int().check(z.minimum(0))) };
/** An answer that says only that it was done. */
export const nothing = () => loose({});

/** What a thread begins or goes on with. */
const opening = {
  model: maybe(z.string()),
  cwd: maybe(z.string()),
  approvalPolicy: maybe(CodexApprovalPolicy),
  approvalsReviewer: maybe(z.string()),
  sandbox: maybe(CodexSandboxMode),
  permissions: maybe(z.string()),
  config: maybe(z.record(z.string(), z.unknown())),
  developerInstructions: maybe(z.string()),
};

const DynamicFunction = {
  type: z.optional(z.literal("function")),
  name: z.string(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
};

/** A tool that a client offers, or several under one name. An older client names the namespace in the tool. */
export const CodexDynamicTool = z.union([
  loose({
    type: z.literal("namespace"),
    name: z.string(),
    description: z.string(),
    tools: z.array(loose(DynamicFunction)),
  }),
  loose({ ...DynamicFunction, namespace: maybe(z.string()) }),
]);
export type CodexDynamicTool = z.output<typeof CodexDynamicTool>;

/** What a turn, and every later one, works with. */
const working = {
  cwd: maybe(z.string()),
  approvalPolicy: maybe(CodexApprovalPolicy),
  approvalsReviewer: maybe(z.string()),
  sandboxPolicy: maybe(CodexSandboxPolicy),
  permissions: maybe(z.string()),
  model: maybe(z.string()),
  effort: maybe(z.string()),
  summary: maybe(z.enum(["auto", "concise", "detailed", "none"])),
  personality: maybe(z.string()),
  collaborationMode: maybe(CodexCollaborationMode),
};

/** A thread with all that it works with. */
const OpenedThread = () =>
  loose({
    thread: CodexThread,
    model: z.string(),
    modelProvider: z.optional(z.string()),
    serviceTier: maybe(z.string()),
    disabledPluginIds: z.optional(z.array(z.string())),
    cwd: z.optional(z.string()),
    runtimeWorkspaceRoots: z.optional(z.array(z.string())),
    instructionSources: z.optional(z.array(z.string())),
    approvalPolicy: z.optional(CodexApprovalPolicy),
    approvalsReviewer: z.optional(z.string()),
    sandbox: z.optional(CodexSandboxPolicy),
    activePermissionProfile: z.optional(z.unknown()),
    reasoningEffort: maybe(z.string()),
    multiAgentMode: z.optional(z.string()),
    collaborationMode: maybe(CodexCollaborationMode),
    initialTurnsPage: z.optional(z.unknown()),
    turnsBackwardsCursor: maybe(z.string()),
    itemsBackwardsCursor: maybe(z.string()),
  });

/** Every request to Codex that Flint speaks. */
export const CODEX_REQUESTS = {
  initialize: request(
    "Says who is there. Comes first.",
    () =>
      loose({
        clientInfo: loose({ name: z.string(), title: maybe(z.string()), version: z.string() }),
        capabilities: maybe(
          loose({
            experimentalApi: z.optional(z.boolean()),
            requestAttestation: z.optional(z.boolean()),
            optOutNotificationMethods: maybe(z.array(z.string())),
          }),
        ),
      }),
    () =>
      loose({
        userAgent: z.string(),
        codexHome: z.optional(z.string()),
        platformFamily: z.optional(z.string()),
        platformOs: z.optional(z.string()),
      }),
  ),
  "thread/start": request(
    "Begins a thread.",
    () =>
      loose({ ...opening, ephemeral: maybe(z.boolean()), dynamicTools: maybe(z.array(CodexDynamicTool)) }),
    OpenedThread,
  ),
  "thread/resume": request(
    "Takes up a thread of an earlier time.",
    () => loose({ ...ofThread, ...opening, excludeTurns: z.optional(z.boolean()) }),
    OpenedThread,
  ),
  "thread/fork": request(
    "Begins a thread with the history of another one.",
    () =>
      loose({
        ...ofThread,
        ...opening,
        lastTurnId: maybe(z.string()),
        beforeTurnId: maybe(z.string()),
      }),
    OpenedThread,
  ),
  "thread/settings/update": request(
    "Changes what the turns from now on work with.",
    () => loose({ ...ofThread, ...working }),
    nothing,
  ),
  "thread/compact/start": request(
    "Begins a turn that makes room in the context.",
    () => loose(ofThread),
    nothing,
  ),
  "thread/unsubscribe": request(
    "Lets go of a thread.",
    () => loose(ofThread),
    () => loose({ status: z.optional(z.string()) }),
  ),
  "thread/backgroundTerminals/clean": request(
    "Ends the commands that a thread left running.",
    () => loose(ofThread),
    nothing,
  ),
  "turn/start": request(
    "Begins a turn.",
    () =>
      loose({
        ...ofThread,
        ...working,
        input: z.array(CodexUserInput),
        outputSchema: z.optional(z.unknown()),
      }),
    () => loose({ turn: CodexTurn }),
  ),
  "turn/steer": request(
    "Adds input to the running turn.",
    () =>
      loose({
        ...ofThread,
        input: z.array(CodexUserInput),
        expectedTurnId: z.string(),
      }),
    () => loose({ turnId: z.string() }),
  ),
  "turn/interrupt": request(
    "Stops a turn. One that has ended is never answered for.",
    () => loose({ ...ofThread, turnId: z.string() }),
    nothing,
  ),
  "review/start": request(
    "Begins a turn that reviews changes.",
    () => loose({ ...ofThread, target: CodexReviewTarget, delivery: maybe(z.string()) }),
    () => loose({ turn: CodexTurn, reviewThreadId: z.string() }),
  ),
  "model/list": request(
    "The models there are.",
    () => loose({ ...page, includeHidden: maybe(z.boolean()) }),
    () => loose({ data: z.array(CodexModel), nextCursor: maybe(z.string()) }),
  ),
  "account/read": request(
    "Who Codex works as.",
    () => loose({}),
    () =>
      loose({
        account: maybe(loose({ type: z.string(), email: maybe(z.string()) })),
        requiresOpenaiAuth: z.boolean(),
        workspaceRouting: z.optional(z.unknown()),
      }),
  ),
  "mcpServerStatus/list": request(
    "The MCP servers and how they are.",
    () => loose({ ...page, detail: maybe(z.string()), threadId: maybe(z.string()) }),
    () =>
      loose({
        data: z.array(
          loose({
            name: z.string(),
            runtimeStatus: maybe(z.string()),
            toolsError: maybe(z.string()),
          }),
        ),
        nextCursor: maybe(z.string()),
      }),
  ),
} as const;

/** The name of a request to Codex. */
export type CodexRequest = keyof typeof CODEX_REQUESTS;
/** What a request to Codex takes. */
export type CodexParams<Name extends CodexRequest> = z.input<(typeof CODEX_REQUESTS)[Name]["params"]>;
/** What a request to Codex gives. */
export type CodexResult<Name extends CodexRequest> = z.output<(typeof CODEX_REQUESTS)[Name]["result"]>;
