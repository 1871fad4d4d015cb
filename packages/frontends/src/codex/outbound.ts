import type { EventData, Goal, ThreadEvent, ThreadStatus } from "@flint/protocol";
import type {
  CodexGoal,
  CodexServerNotification,
  CodexServerNotificationParams,
  CodexThreadStatus,
} from "@flint/protocol/codex";
import type { Notification, Resolved } from "../shared/encoder.ts";
import type { ApprovalWords } from "./approval-words.ts";
import { approvalAsked, type CodexAsk, questionAsked, toolCallAsked } from "./asked.ts";
import { itemOf } from "./items.ts";
import { effortOf, NOT_LOADED, settingsOf, statusOf, threadOf } from "./threads.ts";
import { bareTurn, endedTurn, turnErrorOf } from "./turns.ts";
import { tokensOf } from "./usage.ts";

/** A notification of this wire. A status is sent only to clients that were not sent the same before. */
export interface CodexNotification extends Notification {
  readonly method: CodexServerNotification;
  readonly status?: { readonly threadId: string; readonly status: CodexThreadStatus };
}

/** What an event becomes on this wire. */
export type CodexMessage = CodexNotification | CodexAsk | Resolved;

/**
 * What an event is on this wire, in the order of Codex: a thread is active before its turn begins and idle before it
 * is told to have ended, and it waits before it asks. No I/O.
 */
export function outbound(event: ThreadEvent, words: ApprovalWords): readonly CodexMessage[] {
  const { at } = event;
  switch (event.type) {
    case "thread/started": {
      const { thread, settings } = event.data;
      return [tell("thread/started", { thread: threadOf(thread, effortOf(settings)) })];
    }
    case "thread/settings/updated": {
      const { threadId, settings } = event.data;
      return [tell(event.type, { threadId, threadSettings: settingsOf(threadId, settings, words) })];
    }
    case "thread/name/updated":
      return [tell(event.type, { threadId: event.data.threadId, threadName: event.data.name })];
    case "thread/goal/updated": {
      const { threadId, goal } = event.data;
      return [tell(event.type, { threadId, turnId: null, goal: goalOf(threadId, goal) })];
    }
    case "thread/unarchived":
    case "thread/reverted":
    case "thread/goal/cleared":
    case "thread/queue/changed":
      return [tell(event.type, { threadId: event.data.threadId })];
    case "thread/revert/undone":
      return [tell("thread/reverted", { threadId: event.data.threadId })];
    case "thread/archived":
    case "thread/deleted":
    case "thread/closed": {
      const { threadId } = event.data;
      return [status(threadId, NOT_LOADED), tell(event.type, { threadId })];
    }
    case "thread/status/changed":
      return [status(event.data.threadId, statusOf(event.data.status))];
    case "thread/tokenUsage/updated":
      return [usage(event.data)];
    case "turn/started": {
      const { threadId, turn } = event.data;
      return [status(threadId, ACTIVE), tell(event.type, { threadId, turn: bareTurn(turn) })];
    }
    case "turn/completed":
      return ended(event.data);
    case "turn/plan/updated":
      return [plan(event.data)];
    case "turn/diff/updated":
      return [tell(event.type, { ...placeOf(event.data), diff: event.data.diff })];
    case "item/started":
      return started(event.data, at);
    case "item/completed":
      return completed(event.data, at);
    case "item/agentMessage/delta":
    case "item/commandExecution/outputDelta":
    case "item/plan/delta":
      return [tell(event.type, pieceOf(event.data))];
    case "item/reasoning/textDelta":
      return [tell(event.type, { ...pieceOf(event.data), contentIndex: 0 })];
    case "item/reasoning/summaryTextDelta":
      return summarized(event.data);
    case "item/mcpToolCall/progress": {
      const { itemId, message } = event.data;
      return [tell(event.type, { ...placeOf(event.data), itemId, message })];
    }
    case "approval/requested":
      return [status(event.data.threadId, WAITING_ON_APPROVAL), approvalAsked(event.data)];
    case "question/requested":
      return [status(event.data.threadId, WAITING_ON_USER), questionAsked(event.data)];
    case "approval/resolved":
      return [{ kind: "resolved", key: event.data.approvalId }];
    case "question/resolved":
      return [{ kind: "resolved", key: event.data.questionId }];
    case "tool/requested":
      return [toolCallAsked(event.data)];
    case "tool/resolved":
      return [{ kind: "resolved", key: event.data.callId }];
    case "error":
      return failure(event.data);
    case "warning":
      return [warning(event.data)];
    case "model/rerouted":
      return [rerouted(event.data)];
    case "item/fileChange/outputDelta":
    case "thread/session/updated":
    case "config/updated":
    case "extension/notified":
      // Codex has no word for them, or does not use it any more.
      return [];
  }
}

const ACTIVE: CodexThreadStatus = { type: "active", activeFlags: [] };
const WAITING_ON_APPROVAL = statusOf(waiting("waitingOnApproval"));
const WAITING_ON_USER = statusOf(waiting("waitingOnUserInput"));

function waiting(flag: NonNullable<ThreadStatus["activeFlags"]>[number]): ThreadStatus {
  return { type: "active", activeFlags: [flag] };
}

/** A notification, its params checked by the compiler. */
export function tell<Name extends CodexServerNotification>(
  method: Name,
  params: CodexServerNotificationParams<Name>,
): CodexNotification {
  return { kind: "notification", method, params };
}

/** What a thread does, for those who do not know it yet. */
export function status(threadId: string, now: CodexThreadStatus): CodexNotification {
  const told = tell("thread/status/changed", { threadId, status: now });
  return { ...told, status: { threadId, status: now } };
}

/** A goal in Codex's words. */
export function goalOf(threadId: string, goal: Goal): CodexGoal {
  const { objective, status, tokensUsed, timeUsedSeconds, createdAt, updatedAt } = goal;
  const tokenBudget = goal.tokenBudget ?? null;
  return { threadId, objective, status, tokenBudget, tokensUsed, timeUsedSeconds, createdAt, updatedAt };
}

type Place = { threadId: string; turnId: string };
type Piece = Place & { itemId: string; delta: string };

function placeOf({ threadId, turnId }: Place): Place {
  return { threadId, turnId };
}

function pieceOf({ threadId, turnId, itemId, delta }: Piece): Piece {
  return { threadId, turnId, itemId, delta };
}

/** Flint's summary is one text, so it is one part, which begins with its first piece. */
function summarized(data: EventData<"item/reasoning/summaryTextDelta">): CodexNotification[] {
  const piece = tell("item/reasoning/summaryTextDelta", { ...pieceOf(data), summaryIndex: 0 });
  if (data.offset > 0) return [piece];
  const { itemId } = data;
  return [tell("item/reasoning/summaryPartAdded", { ...placeOf(data), itemId, summaryIndex: 0 }), piece];
}

function started(data: EventData<"item/started">, at: number): CodexNotification[] {
  const item = itemOf(data.item, { startedAtMs: at, completedAtMs: null });
  return item === undefined ? [] : [tell("item/started", { ...placeOf(data), item, startedAtMs: at })];
}

function completed(data: EventData<"item/completed">, at: number): CodexNotification[] {
  const item = itemOf(data.item, { startedAtMs: null, completedAtMs: at });
  return item === undefined ? [] : [tell("item/completed", { ...placeOf(data), item, completedAtMs: at })];
}

/** A turn that failed leaves its thread in error until the next one begins, and says why. */
function ended({ threadId, turn }: EventData<"turn/completed">): CodexNotification[] {
  const end = tell("turn/completed", { threadId, turn: endedTurn(turn) });
  if (turn.status !== "failed") return [status(threadId, { type: "idle" }), end];
  const error = turnErrorOf(turn.error ?? { message: "The agent did not say why the turn failed." });
  const why = tell("error", { threadId, turnId: turn.id, error, willRetry: false });
  return [status(threadId, { type: "systemError" }), why, end];
}

/** What ends a turn is told with its end; only what is tried again is told at once. */
function failure(data: EventData<"error">): CodexNotification[] {
  if (!data.willRetry) return [];
  return [tell("error", { ...placeOf(data), error: turnErrorOf(data.error), willRetry: true })];
}

/** What a thread used. */
export function usage(data: EventData<"thread/tokenUsage/updated">): CodexNotification {
  const { usage: total, last, modelContextWindow = null } = data;
  const tokenUsage = { total: tokensOf(total), last: tokensOf(last), modelContextWindow };
  return tell("thread/tokenUsage/updated", { ...placeOf(data), tokenUsage });
}

/** A step that failed has no word here; it is not done. */
function plan(data: EventData<"turn/plan/updated">): CodexNotification {
  const steps = data.plan.map(({ step, status }) => ({
    step,
    status: status === "failed" ? "pending" : status,
  }));
  const explanation = data.explanation === "" ? null : data.explanation;
  return tell("turn/plan/updated", { ...placeOf(data), explanation, plan: steps });
}

/** What a workspace may not say is a matter of its configuration; the rest concerns the thread. */
function warning({ threadId, message, reason }: EventData<"warning">): CodexNotification {
  if (reason === "workspace") return tell("configWarning", { summary: message, details: null });
  return tell("warning", { threadId, message });
}

/** Codex knows one reason to change the model; for any other one its clients are told in words. */
function rerouted(data: EventData<"model/rerouted">): CodexNotification {
  const { threadId, fromModel, toModel, reason } = data;
  if (reason === "highRiskCyberActivity") {
    return tell("model/rerouted", { ...placeOf(data), fromModel, toModel, reason });
  }
  return tell("warning", { threadId, message: `${toModel} works in place of ${fromModel}: ${reason}` });
}
