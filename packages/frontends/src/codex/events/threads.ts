import {
  agentOfModel,
  PERSONALITY,
  type Thread,
  type ThreadSettings,
  type ThreadStatus,
} from "@flint/protocol";
import {
  CODEX_VERSION,
  type CodexClientResult,
  type CodexThread,
  type CodexThreadSettings,
  type CodexThreadStatus,
  codexSandboxPolicy,
} from "@flint/protocol/codex";
import type { RequestedPolicies } from "../wire/policies.ts";

/** The selector of the reasoning effort, for every agent that has one. */
export const REASONING_EFFORT = "reasoning_effort";

/** The selectors that switch agents to planning. */
export const PLAN_SELECTORS = ["collaboration_mode", "mode"] as const;

/** The status of a thread that has to be resumed before it can be used. */
export const NOT_LOADED = { type: "notLoaded" } as const;

const MULTI_AGENT_MODE = "explicitRequestOnly";

/** A thread without its turns. */
export function threadOf(thread: Thread, effort: string | null): CodexThread {
  const { id, cwd } = thread;
  // An archived thread cannot be used, so for clients it is not loaded, whether it still is in memory or not.
  const status = thread.archived ? NOT_LOADED : thread.status;
  const isLoaded = status.type !== "notLoaded";
  return {
    id,
    environments: isLoaded ? [{ environmentId: "local", cwd, runtimeWorkspaceRoots: [cwd] }] : null,
    extra: null,
    sessionId: id,
    forkedFromId: thread.forkedFromId ?? null,
    parentThreadId: thread.parentThreadId ?? null,
    preview: thread.preview,
    ephemeral: thread.ephemeral,
    section: null,
    sectionEnteredAt: null,
    projectId: null,
    historyMode: "paginated",
    modelProvider: thread.modelProvider,
    model: thread.model,
    reasoningEffort: effort,
    createdAt: thread.createdAt,
    updatedAt: thread.updatedAt,
    recencyAt: thread.updatedAt,
    status: statusOf(status),
    path: null,
    cwd,
    cliVersion: CODEX_VERSION,
    originator: null,
    source: "vscode",
    // The thread of a sub-agent can only be read.
    canAcceptDirectInput: isLoaded ? thread.parentThreadId === undefined : null,
    threadSource: null,
    agentNickname: null,
    agentRole: null,
    gitInfo: null,
    name: thread.name ?? null,
    daybreakEnabled: null,
    turns: [],
  };
}

/** The status of a thread. */
export function statusOf({ type, activeFlags }: ThreadStatus): CodexThreadStatus {
  return type === "active" ? { type, activeFlags: activeFlags ?? [] } : { type };
}

/** The reasoning effort of a thread; null if none was chosen. */
export function effortOf({ config }: ThreadSettings): string | null {
  return config[REASONING_EFFORT] ?? null;
}

/** A thread with its settings, as the answer to the request that opened it. */
export function openedThread(
  thread: Thread,
  settings: ThreadSettings,
  policies: RequestedPolicies,
): CodexClientResult<"thread/start"> {
  const effort = effortOf(settings);
  return {
    thread: threadOf(thread, effort),
    model: settings.model,
    modelProvider: thread.modelProvider,
    serviceTier: null,
    disabledPluginIds: [],
    cwd: settings.cwd,
    runtimeWorkspaceRoots: [settings.cwd],
    instructionSources: [],
    approvalPolicy: policies.approvalPolicy(thread.id, settings.approvalPolicy),
    approvalsReviewer: "user",
    sandbox: codexSandboxPolicy(settings.sandboxPolicy),
    activePermissionProfile: policies.profile(thread.id, settings.sandboxPolicy),
    reasoningEffort: effort,
    multiAgentMode: MULTI_AGENT_MODE,
  };
}

/** The settings of a thread, as they are sent when they change. */
export function settingsOf(
  threadId: string,
  settings: ThreadSettings,
  policies: RequestedPolicies,
): CodexThreadSettings {
  return {
    disabledPluginIds: [],
    cwd: settings.cwd,
    approvalPolicy: policies.approvalPolicy(threadId, settings.approvalPolicy),
    approvalsReviewer: "user",
    sandboxPolicy: codexSandboxPolicy(settings.sandboxPolicy),
    activePermissionProfile: policies.profile(threadId, settings.sandboxPolicy),
    model: settings.model,
    modelProvider: settings.modelProvider ?? agentOfModel(settings.model),
    serviceTier: null,
    effort: effortOf(settings),
    summary: settings.summary ?? null,
    collaborationMode: collaborationModeOf(settings),
    multiAgentMode: MULTI_AGENT_MODE,
    personality: settings.config[PERSONALITY] ?? settings.personality ?? null,
  };
}

/** The collaboration mode of a thread. */
export function collaborationModeOf(settings: ThreadSettings): CodexThreadSettings["collaborationMode"] {
  return {
    mode: isPlanning(settings) ? "plan" : "default",
    settings: { model: settings.model, reasoning_effort: effortOf(settings), developer_instructions: null },
  };
}

/** Reports whether the agent of a thread plans first. */
export function isPlanning({ config }: ThreadSettings): boolean {
  return PLAN_SELECTORS.some((id) => config[id] === "plan");
}
