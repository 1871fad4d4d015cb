import type {
  EventData,
  HarnessApprovalRequest,
  HarnessItem,
  HarnessItemType,
  HarnessNotification,
  HarnessNotificationParams,
  HarnessThread,
  HarnessTurn,
  Thread,
  ThreadEvent,
  Turn,
  TurnStatus,
} from "@flint/protocol";
import type { Notification } from "../shared/encoder.ts";
import {
  artifacts,
  completedItems,
  itemOf,
  logIdOf,
  openApproval,
  requestIdOf,
  resolvedApproval,
  startedItems,
} from "./items.ts";

/** A notification of this wire. It never asks: approvals are answered by a request of the client. */
export interface HarnessMessage extends Notification {
  readonly method: HarnessNotification;
}

/** Converts an event to messages of this wire; the same while it happens and when history is read. */
export function events(event: ThreadEvent): readonly HarnessMessage[] {
  switch (event.type) {
    case "thread/started":
      return [notification("thread.created", { thread: threadOf(event.data.thread) })];
    case "turn/started":
      return [notification("turn.started", { turn: turnOf(event.data.threadId, event.data.turn, event.at) })];
    case "turn/completed":
      return [turnEnded(event.data, event.at)];
    case "turn/plan/updated":
      return whole([planItem(event.data, event.seq ?? event.at)]);
    case "item/started":
      return startedItems(event.data, event.data.item).map(started);
    case "item/completed":
      return [
        ...completedItems(event.data, event.data.item).map(completed),
        ...whole(artifacts(event.data, event.data.item)),
      ];
    case "item/agentMessage/delta":
      return [delta(event.data, "assistant_message", "text")];
    case "item/reasoning/textDelta":
      return [delta(event.data, "assistant_message", "reasoning")];
    case "item/reasoning/summaryTextDelta":
      return [delta(event.data, "assistant_message", "summary")];
    case "item/commandExecution/outputDelta":
      return [delta({ ...event.data, itemId: logIdOf(event.data.itemId) }, "tool_log", "output")];
    case "item/fileChange/outputDelta":
      return [delta(event.data, "tool_exec", "output")];
    case "item/plan/delta":
      return [delta(event.data, "tool_exec", "text")];
    case "item/mcpToolCall/progress":
      return [delta({ ...event.data, delta: event.data.message }, "tool_exec", "progress")];
    case "approval/requested":
      return [
        started(openApproval(event.data)),
        notification("approval.requested", approvalRequest(event.data)),
      ];
    case "approval/resolved":
      return [completed(resolvedApproval(event.data))];
    case "question/requested":
      return [started(openQuestion(event.data))];
    case "question/resolved":
      return [completed(resolvedQuestion(event.data))];
    case "warning":
      return whole(warningItems(event.data, event.at));
    case "thread/settings/updated":
    case "thread/name/updated":
    case "thread/archived":
    case "thread/unarchived":
    case "thread/deleted":
    case "thread/closed":
    case "thread/status/changed":
    case "thread/commands/updated":
    case "thread/goal/updated":
    case "thread/goal/cleared":
    case "thread/session/updated":
    case "thread/reverted":
    case "thread/revert/undone":
    case "thread/queue/changed":
    case "thread/tokenUsage/updated":
    case "turn/diff/updated":
    case "item/fileChange/patchUpdated":
    case "error":
    case "model/rerouted":
    case "grant/changed":
    case "config/updated":
    case "account/login/completed":
    case "account/updated":
    case "account/limits":
    case "task/event":
    case "extension/notified":
    case "tool/requested":
    case "tool/resolved":
      // Not shown: this wire has no message for them. A failure that ends a turn comes as `turn.error`.
      return [];
  }
}

function notification<Name extends HarnessNotification>(
  method: Name,
  params: HarnessNotificationParams<Name>,
): HarnessMessage {
  return { kind: "notification", method, params };
}

function started(item: HarnessItem): HarnessMessage {
  return notification("item.started", { item });
}

function completed(item: HarnessItem): HarnessMessage {
  return notification("item.completed", { item });
}

/** Items that complete as soon as they start. */
function whole(items: readonly HarnessItem[]): HarnessMessage[] {
  return items.flatMap((item) => [started(item), completed(item)]);
}

function turnEnded({ threadId, turn }: EventData<"turn/completed">, at: number): HarnessMessage {
  const ended = turnOf(threadId, turn, at);
  if (ended.status !== "error") return notification("turn.completed", { turn: ended });
  const error = turn.error ?? { message: "The agent gave no reason for the failure." };
  return notification("turn.error", { turn: ended, error });
}

type Delta = { threadId: string; turnId: string; itemId: string; delta: string; offset?: number };

function delta(event: Delta, itemType: HarnessItemType, field: string): HarnessMessage {
  const { itemId, threadId, turnId, delta, offset } = event;
  const position = offset === undefined ? {} : { offset };
  return notification("item.delta", { itemId, threadId, turnId, itemType, field, delta, ...position });
}

/** Each state of the plan is one call of the plan tool, distinguished by its position in the log. */
function planItem(data: EventData<"turn/plan/updated">, position: number): HarnessItem {
  const { turnId, explanation, plan } = data;
  const at = { ...data, itemId: `${turnId}.plan-${position}` };
  return itemOf("tool_exec", at, { kind: "plan", tool: "plan", text: explanation, entries: plan });
}

/**
 * Converts a warning of an agent in its turn. Other warnings belong to no turn, and every item of this wire
 * does.
 */
function warningItems(data: EventData<"warning">, at: number): HarnessItem[] {
  const { threadId, turnId, message, reason, details } = data;
  if (turnId === undefined) return [];
  const text = details === undefined ? message : `${message}\n${details}`;
  const ids = { threadId, turnId, itemId: `${turnId}.warning-${at}-${text.length}` };
  return [itemOf("tool_exec", ids, { kind: "warning", tool: "warning", text, reason })];
}

/** A question can be answered through other front ends only; it is shown so that users see why the turn waits. */
function openQuestion({ threadId, request }: EventData<"question/requested">): HarnessItem {
  const at = { threadId, turnId: request.turnId, itemId: `${request.itemId}.question-${request.id}` };
  return itemOf("tool_exec", at, {
    ...QUESTION,
    status: "inProgress",
    toolItemId: request.itemId,
    questions: request.questions,
    expiresAt: request.expiresAtMs,
  });
}

function resolvedQuestion(data: EventData<"question/resolved">): HarnessItem {
  const { answers, by, itemId, questionId } = data;
  const at = { ...data, itemId: `${itemId}.question-${questionId}` };
  return itemOf("tool_exec", at, { ...QUESTION, status: "completed", toolItemId: itemId, answers, by });
}

const QUESTION = { kind: "question", tool: "ask_user" };

/** Builds the notification that asks a client for approval; it answers with a request of its own. */
function approvalRequest({ threadId, approval }: EventData<"approval/requested">): HarnessApprovalRequest {
  const { id, turnId, action, expiresAtMs } = approval;
  const requestId = requestIdOf(threadId, id);
  return { requestId, threadId, turnId, itemId: action.itemId, action, expiresAt: expiresAtMs };
}

const STATUS: Readonly<Record<TurnStatus, HarnessTurn["status"]>> = {
  inProgress: "running",
  completed: "completed",
  interrupted: "cancelled",
  failed: "error",
};

/** A thread as this wire has it; its title is its name, or its preview. */
export function threadOf(thread: Thread): HarnessThread {
  return {
    threadId: thread.id,
    title: thread.name ?? thread.preview,
    directory: thread.cwd,
    time: { created: thread.createdAt * 1000, updated: thread.updatedAt * 1000 },
  };
}

/** A turn as this wire has it; `at` is the time of its event, for a turn that does not have its times. */
export function turnOf(threadId: string, turn: Turn, at: number): HarnessTurn {
  const status = STATUS[turn.status];
  const ended = status === "running" ? undefined : (turn.completedAtMs ?? at);
  const started = turn.startedAtMs ?? (ended ?? at) - (turn.durationMs ?? 0);
  const time = ended === undefined ? { started } : { started, completed: ended };
  return { turnId: turn.id, threadId, status, time };
}
