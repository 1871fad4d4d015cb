import type { Approval, QuestionRequest } from "../approval/approval.ts";
import type { Grant } from "../approval/grant.ts";
import type { ToolCallRequest } from "./client-tool.ts";
import type { QueuedInput } from "./input.ts";
import type { AgentCommand, Goal, Thread, ThreadSettings, Turn } from "./thread.ts";
import { type Cost, NO_USAGE, type TokenUsage } from "./usage.ts";

/** The state of a thread after its events, shared by the server, the SDK and user interfaces. */
export interface ThreadState {
  readonly seq: number;
  readonly thread: Thread;
  readonly settings: ThreadSettings;
  /** Oldest first. The server has only the latest one in memory; a client may have all. */
  readonly turns: readonly Turn[];
  readonly activeTurnId: string | undefined;
  /** Items of the running turn that have started and not ended. */
  readonly openItemIds: readonly string[];
  readonly approvals: readonly Approval[];
  readonly questions: readonly QuestionRequest[];
  /** The open calls of tools that clients offer. */
  readonly toolCalls: readonly ToolCallRequest[];
  readonly queue: readonly QueuedInput[];
  readonly usage: TokenUsage;
  readonly lastUsage: TokenUsage;
  /** The turn of the latest usage report. */
  readonly usageTurnId: string | undefined;
  readonly modelContextWindow: number | undefined;
  readonly cost: Cost | undefined;
  /** Grants for the thread, and grants for one time that are not used yet. */
  readonly grants: readonly Grant[];
  /** The latest approvals that ended without an answer; an answer may still come. */
  readonly lapsedApprovals: readonly Approval[];
  /** The number of turns that have ended, including dropped ones, and how long they worked, without waiting for the user. */
  readonly endedTurns: number;
  readonly workedMs: number;
  /** The agents' own session ids, by agent. */
  readonly nativeIds: Readonly<Record<string, string>>;
  /** Costs of those sessions as the agents count them, by agent, where known. */
  readonly nativeCosts: Readonly<Record<string, Cost>>;
  /** The last turn of each agent, by agent; the agent does not know what came after it. */
  readonly lastTurns: Readonly<Record<string, string>>;
  /** The agent of the latest turn that ended. */
  readonly lastAgent: string | undefined;
  readonly goal: Goal | undefined;
  /** The slash commands that an agent of the thread reported last. */
  readonly agentCommands: { readonly agent: string; readonly commands: readonly AgentCommand[] } | undefined;
  /** Notes on what happened since the latest turn of an agent, for the input of its next turn. */
  readonly agentNotes: readonly string[];
}

/** A thread before its first event, which replaces all of it. */
export function emptyThread(threadId: string): ThreadState {
  const thread: Thread = {
    id: threadId,
    preview: "",
    modelProvider: "",
    model: "",
    cwd: "/",
    createdAt: 0,
    updatedAt: 0,
    archived: false,
    ephemeral: false,
    status: { type: "idle" },
  };
  return {
    seq: 0,
    thread,
    settings: {
      model: "",
      cwd: "/",
      approvalPolicy: "always",
      sandboxPolicy: { type: "readOnly" },
      config: {},
    },
    turns: [],
    activeTurnId: undefined,
    openItemIds: [],
    approvals: [],
    questions: [],
    toolCalls: [],
    queue: [],
    usage: NO_USAGE,
    lastUsage: NO_USAGE,
    usageTurnId: undefined,
    modelContextWindow: undefined,
    cost: undefined,
    grants: [],
    lapsedApprovals: [],
    endedTurns: 0,
    workedMs: 0,
    nativeIds: {},
    nativeCosts: {},
    lastTurns: {},
    lastAgent: undefined,
    goal: undefined,
    agentCommands: undefined,
    agentNotes: [],
  };
}
