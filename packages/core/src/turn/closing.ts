import {
  type Approval,
  agentOfModel,
  asFlintError,
  type DeclinedAction,
  type EventBody,
  errorMessage,
  FlintError,
  hasEnding,
  type ItemEnding,
  isKnownItem,
  type KnownItem,
  mintId,
  type NativeEnd,
  type QuestionRequest,
  type ResolvedBy,
  type ThreadItem,
  type ThreadState,
  type ToolCallRequest,
  type Turn,
  type TurnError,
} from "@flint/protocol";
import { itemEvents } from "./decisions.ts";

/** The end of a turn. */
export interface Ending {
  readonly status: "completed" | "interrupted" | "failed";
  readonly error?: TurnError | undefined;
  /** The event that resolves the requests that are still open. */
  readonly by: ResolvedBy;
  /** The name of the client that interrupted it. */
  readonly client?: string | undefined;
  /** Time that the turn waited for the user. */
  readonly waitedMs?: number;
  /** Its end in the agent's own session, if the agent reported it. */
  readonly nativeEnd?: NativeEnd | undefined;
  /** Actions that were declined in it. */
  readonly declined?: readonly DeclinedAction[];
}

/**
 * The events that end a running turn: open approvals, questions, tool calls and items first, `turn/completed` last. The
 * same for a turn that ends normally and for one that is found unfinished in the log.
 */
export function closeTurn(state: ThreadState, turnId: string, ending: Ending, at: number): EventBody[] {
  const turn = state.turns.findLast((known) => known.id === turnId);
  if (turn === undefined) return [];
  const threadId = state.thread.id;
  const waiting = new Set(state.approvals.map((approval) => approval.action.itemId));
  const openItems = turn.items.filter((item) => state.openItemIds.includes(item.id));
  return [
    ...state.approvals.map((approval) => closeApproval(threadId, approval, ending)),
    ...state.questions.map((question) => closeQuestion(threadId, question, ending)),
    ...state.toolCalls.map((call) => closeToolCall(threadId, call, ending)),
    ...openItems.map(
      (item): EventBody => ({
        type: "item/completed",
        data: { threadId, turnId, item: unfinished(item, waiting.has(item.id) ? "declined" : "failed") },
      }),
    ),
    ...reviewEnd(threadId, turn),
    {
      type: "turn/completed",
      data: {
        threadId,
        turn: endedTurn(turn, ending, at),
        ...(ending.client === undefined ? {} : { client: ending.client }),
      },
    },
  ];
}

/** A review is always exited, however it ended; the last agent message is its text. */
function reviewEnd(threadId: string, turn: Turn): EventBody[] {
  if (turn.kind !== "review") return [];
  const message = turn.items.filter(isKnownItem).findLast((item) => item.type === "agentMessage");
  return itemEvents(threadId, turn.id, {
    type: "exitedReviewMode",
    id: mintId(),
    review: message?.text ?? "",
  });
}

/** The turn as `turn/completed` stores it: without its items, which have records of their own. */
export function endedTurn(turn: Turn, ending: Ending, at: number): Turn {
  const closed: Turn = {
    ...turn,
    status: ending.status,
    items: [],
    itemsView: "notLoaded",
    completedAtMs: at,
  };
  if (turn.startedAtMs !== undefined) closed.durationMs = at - turn.startedAtMs;
  if (ending.waitedMs !== undefined && ending.waitedMs > 0) closed.waitedMs = ending.waitedMs;
  if (ending.error !== undefined) closed.error = ending.error;
  if (ending.nativeEnd !== undefined) closed.nativeEnd = ending.nativeEnd;
  if (ending.declined !== undefined && ending.declined.length > 0) closed.declined = [...ending.declined];
  return closed;
}

function closeApproval(threadId: string, approval: Approval, ending: Ending): EventBody {
  const decision = {
    outcome: "cancel",
    scope: "once",
    message: "The turn ended before an answer came.",
  } as const;
  return {
    type: "approval/resolved",
    data: {
      threadId,
      turnId: approval.turnId,
      approvalId: approval.id,
      itemId: approval.action.itemId,
      resolution: { decision, by: ending.by },
    },
  };
}

function closeQuestion(threadId: string, question: QuestionRequest, ending: Ending): EventBody {
  return {
    type: "question/resolved",
    data: {
      threadId,
      turnId: question.turnId,
      questionId: question.id,
      itemId: question.itemId,
      answers: {},
      by: ending.by,
    },
  };
}

function closeToolCall(threadId: string, call: ToolCallRequest, ending: Ending): EventBody {
  const { id: callId, turnId, itemId } = call;
  return {
    type: "tool/resolved",
    data: { threadId, turnId, callId, itemId, success: false, by: ending.by },
  };
}

/** The status of unfinished work: not approved yet, or running. */
type UnfinishedStatus = "declined" | "failed";

/** An item whose turn ended before it did. */
function unfinished(item: ThreadItem, status: UnfinishedStatus): ThreadItem {
  return isKnownItem(item) ? unfinishedKnown(item, status) : item;
}

function unfinishedKnown(item: KnownItem, status: UnfinishedStatus): KnownItem {
  if (hasEnding(item, "partial")) return { ...item, partial: true };
  if (hasEnding(item, "declinedOrFailed")) return item.status === "inProgress" ? { ...item, status } : item;
  if (hasEnding(item, "failed")) return item.status === "inProgress" ? { ...item, status: "failed" } : item;
  return item satisfies ItemEnding<"unchanged">;
}

/**
 * The turn that records that Flint stopped an agent's background work. A turn of its own, because nothing is added to
 * one that has ended, and because users look at the turns when they come back.
 */
export function decideBackgroundEnd({ thread, settings }: ThreadState, now: number): EventBody[] {
  const { id: threadId } = thread;
  const reason = `Background work of ${agentOfModel(settings.model)} was stopped, because the thread was idle longer than background_timeout.`;
  const turn: Turn = {
    ...{ id: mintId(now), status: "inProgress", items: [], kind: "prompt", startedAtMs: now },
    _meta: { startedBy: "flint", reason },
  };
  const item = {
    tool: "background",
    title: "Background work",
    status: "failed",
    error: reason,
  } as const;
  return [
    { type: "turn/started", data: { threadId, turn } },
    ...itemEvents(threadId, turn.id, { type: "toolCall", id: mintId(now), ...item }),
    {
      type: "turn/completed",
      data: { threadId, turn: endedTurn(turn, { status: "completed", by: "turnEnded" }, now) },
    },
  ];
}

/** The error of a turn that was running when its server stopped. */
export const SERVER_STOPPED: TurnError = {
  message: "The server stopped while the turn was running. It will not be resumed.",
  errorInfo: "ServerStopped",
};

/** The end of a turn whose log cannot be written. */
export function failedStorage({ message }: FlintError): Ending {
  return { status: "failed", error: { message, errorInfo: "StorageFailed" }, by: "turnEnded" };
}

/** The error of a turn whose driver threw. */
export function turnErrorOf(thrown: unknown): TurnError {
  const error = asFlintError(thrown);
  if (error.kind === "sandboxUnavailable") return { message: error.message, errorInfo: "SandboxError" };
  return { message: agentFailed(thrown).message, errorInfo: "AgentFailed" };
}

/** Converts anything that an agent threw to an error for the user. */
export function agentFailed(thrown: unknown): FlintError {
  // Flint's own errors of agents name the agent.
  if (thrown instanceof FlintError && thrown.kind === "agentFailed") return thrown;
  const message = `The agent failed: ${errorMessage(thrown)}`;
  return new FlintError("agentFailed", message, {}, { cause: thrown });
}
