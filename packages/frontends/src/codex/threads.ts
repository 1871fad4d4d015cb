import type { Thread, ThreadSettings, ThreadStatus } from "@flint/protocol";
import {
  CODEX_VERSION,
  type CodexClientResult,
  type CodexThread,
  type CodexThreadSettings,
  type CodexThreadStatus,
  codexSandboxPolicy,
} from "@flint/protocol/codex";
import type { ApprovalWords } from "./approval-words.ts";

/** The selector that reasoning efforts go by, with every agent that has them. */
export const REASONING_EFFORT = "reasoning_effort";

/** The selectors by which agents are told to make a plan first. */
export const PLAN_SELECTORS = ["collaboration_mode", "mode"] as const;

/** What a thread does that has to be resumed before anything can be done in it. */
export const NOT_LOADED = { type: "notLoaded" } as const;

const MULTI_AGENT_MODE = "explicitRequestOnly";

/** A thread in Codex's words, without its turns. */
export function threadOf(thread: Thread, effort: string | null): CodexThread {
  const { id, cwd } = thread;
  // Nothing can be done in an archived thread, so for clients it is not loaded, whether it still is in memory or not.
  const status = thread.archived ? NOT_LOADED : thread.status;
  const isLoaded = status.type !== "notLoaded";
  return {
    id,
    environments: isLoaded ? [{ environmentId: "local", cwd, runtimeWorkspaceRoots: [cwd] }] : null,
    extra: null,
    sessionId: id,
    forkedFromId: thread.forkedFromId ?? null,
    parentThreadId: null,
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
    canAcceptDirectInput: isLoaded ? true : null,
    threadSource: null,
    agentNickname: null,
    agentRole: null,
    gitInfo: null,
    name: thread.name ?? null,
    daybreakEnabled: null,
    turns: [],
  };
}

/** What a thread does, in Codex's words. */
export function statusOf({ type, activeFlags }: ThreadStatus): CodexThreadStatus {
  return type === "active" ? { type, activeFlags: activeFlags ?? [] } : { type };
}

/** The reasoning effort that a thread was told; null if it was not. */
export function effortOf({ config }: ThreadSettings): string | null {
  return config[REASONING_EFFORT] ?? null;
}

/** A thread with all that it works with, as it is answered to whoever opened it. */
export function openedThread(
  thread: Thread,
  settings: ThreadSettings,
  words: ApprovalWords,
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
    approvalPolicy: words.of(thread.id, settings.approvalPolicy),
    approvalsReviewer: "user",
    sandbox: codexSandboxPolicy(settings.sandboxPolicy),
    activePermissionProfile: words.profileOf(thread.id, settings.sandboxPolicy),
    reasoningEffort: effort,
    multiAgentMode: MULTI_AGENT_MODE,
  };
}

/** What a thread works with, as it is told when it changes. */
export function settingsOf(
  threadId: string,
  settings: ThreadSettings,
  words: ApprovalWords,
): CodexThreadSettings {
  return {
    disabledPluginIds: [],
    cwd: settings.cwd,
    approvalPolicy: words.of(threadId, settings.approvalPolicy),
    approvalsReviewer: "user",
    sandboxPolicy: codexSandboxPolicy(settings.sandboxPolicy),
    activePermissionProfile: words.profileOf(threadId, settings.sandboxPolicy),
    model: settings.model,
    modelProvider: settings.model.split("/")[0] ?? settings.model,
    serviceTier: null,
    effort: effortOf(settings),
    summary: null,
    collaborationMode: collaborationModeOf(settings),
    multiAgentMode: MULTI_AGENT_MODE,
    personality: null,
  };
}

/** How a thread works together with the user. */
export function collaborationModeOf(settings: ThreadSettings): CodexThreadSettings["collaborationMode"] {
  return {
    mode: plansFirst(settings) ? "plan" : "default",
    settings: { model: settings.model, reasoning_effort: effortOf(settings), developer_instructions: null },
  };
}

/** Whether the agent of a thread is to make a plan first. */
export function plansFirst({ config }: ThreadSettings): boolean {
  return PLAN_SELECTORS.some((id) => config[id] === "plan");
}
