import {
  type Approval,
  type EventBody,
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
import { itemEvents } from "./turn.ts";

/** How a turn is to be closed. */
export interface Ending {
  readonly status: "completed" | "interrupted" | "failed";
  readonly error?: TurnError | undefined;
  /** Who ends what is still open. */
  readonly by: ResolvedBy;
  /** How much of the turn was spent waiting for a person. */
  readonly waitedMs?: number;
  /** Where it ends in the agent's own session, if the agent said so. */
  readonly nativeEnd?: NativeEnd | undefined;
}

/**
 * The events that end a running turn: its open items, approvals, questions and tool calls first, `turn/completed` last.
 * The same for a turn that ended by itself and for one that was found cut off in the log.
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
        data: { threadId, turnId, item: cutOff(item, waiting.has(item.id) ? "declined" : "failed") },
      }),
    ),
    ...reviewEnd(threadId, turn),
    { type: "turn/completed", data: { threadId, turn: endedTurn(turn, ending, at) } },
  ];
}

/** A review that was entered is left again, however it ended; what was said last is its text. */
function reviewEnd(threadId: string, turn: Turn): EventBody[] {
  if (turn.kind !== "review") return [];
  const said = turn.items.filter(isKnownItem).findLast((item) => item.type === "agentMessage");
  return itemEvents(threadId, turn.id, { type: "exitedReviewMode", id: mintId(), review: said?.text ?? "" });
}

/** A turn as its end is stored: without its items, which have records of their own. */
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

/** What becomes of work that its turn ended before: nobody allowed it yet, or it was under way. */
type Fate = "declined" | "failed";

/** An item as it is when its turn ends before it does. */
function cutOff(item: ThreadItem, fate: Fate): ThreadItem {
  return isKnownItem(item) ? cutOffKnown(item, fate) : item;
}

function cutOffKnown(item: KnownItem, fate: Fate): KnownItem {
  switch (item.type) {
    case "agentMessage":
    case "reasoning":
    case "plan":
      return { ...item, partial: true };
    case "commandExecution":
    case "fileChange":
    case "toolCall":
      return item.status === "inProgress" ? { ...item, status: fate } : item;
    // A call of an MCP server knows no other end than these two.
    case "mcpToolCall":
      return item.status === "inProgress" ? { ...item, status: "failed" } : item;
    case "userMessage":
    case "webSearch":
    case "enteredReviewMode":
    case "exitedReviewMode":
    case "contextCompaction":
    case "agentHandoff":
      return item;
  }
}
