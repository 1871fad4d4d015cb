import {
  type EventData,
  type Goal,
  isKnownItem,
  type ThreadEvent,
  type ThreadItem,
  type ThreadStatus,
} from "@flint/protocol";
import type {
  CodexGoal,
  CodexHookRun,
  CodexServerNotification,
  CodexServerNotificationParams,
  CodexThreadStatus,
} from "@flint/protocol/codex";
import { lateGrantText } from "../../shared/client-text.ts";
import type { Notification, Resolved } from "../../shared/encoder.ts";
import { approvalAsk, type CodexAsk } from "../asks/approvals.ts";
import { toolCallAsk } from "../asks/client-tools.ts";
import { questionAsk } from "../asks/questions.ts";
import type { RequestedPolicies } from "../wire/policies.ts";
import { accountUpdated, loginEnded } from "./accounts.ts";
import { fileChangeOf, itemOf } from "./items.ts";
import { bucketsOf } from "./limits.ts";
import { effortOf, NOT_LOADED, settingsOf, statusOf, threadOf } from "./threads.ts";
import { bareTurn, endedTurn, hookRunOf, tokensOf, turnErrorOf } from "./turns.ts";

/** A notification of this wire. A status is sent only to clients that do not know it yet. */
export interface OutgoingNotification extends Notification {
  readonly method: CodexServerNotification;
  readonly status?: { readonly threadId: string; readonly status: CodexThreadStatus };
}

/** A message on this wire that an event is converted to. */
export type CodexMessage = OutgoingNotification | CodexAsk | Resolved;

/**
 * Converts an event to messages of this wire, in the order of Codex: a thread is active before its turn
 * starts, idle before its turn completes, and waits before a client is asked. Changes nothing; `policies` has
 * the names that clients requested.
 */
export function messagesOf(event: ThreadEvent, policies: RequestedPolicies): readonly CodexMessage[] {
  const { at } = event;
  switch (event.type) {
    case "thread/started": {
      const { thread, settings } = event.data;
      return [notification("thread/started", { thread: threadOf(thread, effortOf(settings)) })];
    }
    case "thread/settings/updated": {
      const { threadId, settings } = event.data;
      return [
        notification(event.type, { threadId, threadSettings: settingsOf(threadId, settings, policies) }),
      ];
    }
    case "thread/name/updated":
      return [notification(event.type, { threadId: event.data.threadId, threadName: event.data.name })];
    case "thread/goal/updated": {
      const { threadId, goal } = event.data;
      return [notification(event.type, { threadId, turnId: null, goal: goalOf(threadId, goal) })];
    }
    case "thread/unarchived":
    case "thread/reverted":
    case "thread/goal/cleared":
    case "thread/queue/changed":
      return [notification(event.type, { threadId: event.data.threadId })];
    case "thread/revert/undone":
      return [notification("thread/reverted", { threadId: event.data.threadId })];
    case "thread/archived":
    case "thread/deleted":
    case "thread/closed": {
      const { threadId } = event.data;
      return [statusChanged(threadId, NOT_LOADED), notification(event.type, { threadId })];
    }
    case "thread/status/changed":
      return [statusChanged(event.data.threadId, statusOf(event.data.status))];
    case "thread/tokenUsage/updated":
      return [usageUpdated(event.data)];
    case "turn/started": {
      const { threadId, turn } = event.data;
      return [statusChanged(threadId, ACTIVE), notification(event.type, { threadId, turn: bareTurn(turn) })];
    }
    case "turn/completed":
      return turnCompleted(event.data);
    case "turn/plan/updated":
      return [planUpdated(event.data)];
    case "turn/diff/updated":
      return [notification(event.type, { ...turnIdsOf(event.data), diff: event.data.diff })];
    case "item/started":
      return itemStarted(event.data, at);
    case "item/completed":
      return itemCompleted(event.data, at);
    case "item/agentMessage/delta":
    case "item/commandExecution/outputDelta":
    case "item/plan/delta":
      return [notification(event.type, deltaOf(event.data))];
    case "item/reasoning/textDelta":
      return [notification(event.type, { ...deltaOf(event.data), contentIndex: 0 })];
    case "item/reasoning/summaryTextDelta":
      return summaryDelta(event.data);
    case "item/fileChange/patchUpdated": {
      const { itemId, changes } = event.data;
      return [
        notification(event.type, { ...turnIdsOf(event.data), itemId, changes: changes.map(fileChangeOf) }),
      ];
    }
    case "item/mcpToolCall/progress": {
      const { itemId, message } = event.data;
      return [notification(event.type, { ...turnIdsOf(event.data), itemId, message })];
    }
    case "approval/requested":
      return [statusChanged(event.data.threadId, WAITING_ON_APPROVAL), approvalAsk(event.data)];
    case "question/requested":
      return [statusChanged(event.data.threadId, WAITING_ON_USER), questionAsk(event.data)];
    case "approval/resolved":
      return [{ kind: "resolved", key: event.data.approvalId }];
    case "question/resolved":
      return [{ kind: "resolved", key: event.data.questionId }];
    case "tool/requested":
      return [toolCallAsk(event.data)];
    case "tool/resolved":
      return [{ kind: "resolved", key: event.data.callId }];
    case "error":
      return retriedError(event.data);
    case "warning":
      return [warning(event.data)];
    case "model/rerouted":
      return [rerouted(event.data)];
    case "account/login/completed":
      return [notification(event.type, loginEnded(event.data))];
    case "account/updated":
      return [notification(event.type, accountUpdated(event.data))];
    case "account/limits":
      return bucketsOf(event.data.limits).map((rateLimits) =>
        notification("account/rateLimits/updated", { rateLimits }),
      );
    case "grant/changed": {
      const { threadId, grant, status } = event.data;
      return status === "added" ? [notification("warning", { threadId, message: lateGrantText(grant) })] : [];
    }
    case "item/fileChange/outputDelta":
    case "thread/session/updated":
    case "thread/commands/updated":
    case "config/updated":
    case "task/event":
    case "extension/notified":
      // Not shown: Codex has no message for them, or does not send it any more.
      return [];
  }
}

const ACTIVE: CodexThreadStatus = { type: "active", activeFlags: [] };
const WAITING_ON_APPROVAL = statusOf(waiting("waitingOnApproval"));
const WAITING_ON_USER = statusOf(waiting("waitingOnUserInput"));

function waiting(flag: NonNullable<ThreadStatus["activeFlags"]>[number]): ThreadStatus {
  return { type: "active", activeFlags: [flag] };
}

/** A notification with params of its own type. */
export function notification<Name extends CodexServerNotification>(
  method: Name,
  params: CodexServerNotificationParams<Name>,
): OutgoingNotification {
  return { kind: "notification", method, params };
}

/** The status of a thread, for clients that do not know it yet. */
export function statusChanged(threadId: string, status: CodexThreadStatus): OutgoingNotification {
  return { ...notification("thread/status/changed", { threadId, status }), status: { threadId, status } };
}

/** The goal of a thread. */
export function goalOf(threadId: string, goal: Goal): CodexGoal {
  const { objective, status, tokensUsed, timeUsedSeconds, createdAt, updatedAt } = goal;
  const tokenBudget = goal.tokenBudget ?? null;
  return { threadId, objective, status, tokenBudget, tokensUsed, timeUsedSeconds, createdAt, updatedAt };
}

type TurnIds = { threadId: string; turnId: string };
type Delta = TurnIds & { itemId: string; delta: string };

function turnIdsOf({ threadId, turnId }: TurnIds): TurnIds {
  return { threadId, turnId };
}

function deltaOf({ threadId, turnId, itemId, delta }: Delta): Delta {
  return { threadId, turnId, itemId, delta };
}

/** Flint's summary is one string, so it is one part, which begins with its first delta. */
function summaryDelta(data: EventData<"item/reasoning/summaryTextDelta">): OutgoingNotification[] {
  const delta = notification("item/reasoning/summaryTextDelta", { ...deltaOf(data), summaryIndex: 0 });
  if (data.offset > 0) return [delta];
  const { itemId } = data;
  return [
    notification("item/reasoning/summaryPartAdded", { ...turnIdsOf(data), itemId, summaryIndex: 0 }),
    delta,
  ];
}

function itemStarted(data: EventData<"item/started">, at: number): OutgoingNotification[] {
  const run = hookOf(data.item, at);
  if (run !== undefined) return [notification("hook/started", { ...turnIdsOf(data), run })];
  const item = itemOf(data.item, { startedAtMs: at, completedAtMs: null });
  return item === undefined
    ? []
    : [notification("item/started", { ...turnIdsOf(data), item, startedAtMs: at })];
}

function itemCompleted(data: EventData<"item/completed">, at: number): OutgoingNotification[] {
  const run = hookOf(data.item, at);
  if (run !== undefined) return [notification("hook/completed", { ...turnIdsOf(data), run })];
  const item = itemOf(data.item, { startedAtMs: null, completedAtMs: at });
  return item === undefined
    ? []
    : [notification("item/completed", { ...turnIdsOf(data), item, completedAtMs: at })];
}

function hookOf(item: ThreadItem, at: number): CodexHookRun | undefined {
  return isKnownItem(item) && item.type === "hookRun" ? hookRunOf(item, at) : undefined;
}

/** A turn that failed leaves its thread in error until the next one starts, and is sent with the reason. */
function turnCompleted({ threadId, turn }: EventData<"turn/completed">): OutgoingNotification[] {
  const completed = notification("turn/completed", { threadId, turn: endedTurn(turn) });
  if (turn.status !== "failed") return [statusChanged(threadId, { type: "idle" }), completed];
  const error = turnErrorOf(turn.error ?? { message: "The agent gave no reason for the failure." });
  const reason = notification("error", { threadId, turnId: turn.id, error, willRetry: false });
  return [statusChanged(threadId, { type: "systemError" }), reason, completed];
}

/** An error that ends a turn is sent with its end; only one that is retried is sent at once. */
function retriedError(data: EventData<"error">): OutgoingNotification[] {
  if (!data.willRetry) return [];
  return [notification("error", { ...turnIdsOf(data), error: turnErrorOf(data.error), willRetry: true })];
}

/** The token usage of a thread. */
export function usageUpdated(data: EventData<"thread/tokenUsage/updated">): OutgoingNotification {
  const { usage: total, last, modelContextWindow = null } = data;
  const tokenUsage = { total: tokensOf(total), last: tokensOf(last), modelContextWindow };
  return notification("thread/tokenUsage/updated", { ...turnIdsOf(data), tokenUsage });
}

/** There is no status for a step that failed; it is still pending. */
function planUpdated(data: EventData<"turn/plan/updated">): OutgoingNotification {
  const steps = data.plan.map(({ step, status }) => ({
    step,
    status: status === "failed" ? "pending" : status,
  }));
  const explanation = data.explanation === "" ? null : data.explanation;
  return notification("turn/plan/updated", { ...turnIdsOf(data), explanation, plan: steps });
}

/** A warning about a workspace's files is one about its configuration; the others are about the thread. */
function warning({ threadId, message, reason, details }: EventData<"warning">): OutgoingNotification {
  const notice = { summary: message, details: details ?? null };
  if (reason === "workspace" || reason === "configuration") return notification("configWarning", notice);
  if (reason === "deprecation") return notification("deprecationNotice", notice);
  return notification("warning", { threadId, message });
}

/** Codex has one reason to change the model; any other is sent as a warning. */
function rerouted(data: EventData<"model/rerouted">): OutgoingNotification {
  const { threadId, fromModel, toModel, reason } = data;
  if (reason === "highRiskCyberActivity") {
    return notification("model/rerouted", { ...turnIdsOf(data), fromModel, toModel, reason });
  }
  return notification("warning", {
    threadId,
    message: `Using ${toModel} instead of ${fromModel}: ${reason}`,
  });
}
