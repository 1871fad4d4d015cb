import {
  Answers,
  type Approval,
  ApprovalAnswer,
  ASKS,
  type Ask as AskName,
  type Decision,
  EVENTS,
  type EventData,
  failedToolCall,
  METHODS,
  type QuestionRequest,
  type ThreadEvent,
  type ToolCallRequest,
  ToolCallResult,
} from "@flint/protocol";
import type { Ask } from "../shared/client-asks.ts";
import type { CoreCall } from "../shared/core-calls.ts";
import type { Notification, Outgoing, Resolved } from "../shared/encoder.ts";

/** The answers a client may give by name, and what they mean. */
const DECISIONS = {
  accept: { outcome: "allow", scope: "once" },
  acceptForSession: { outcome: "allow", scope: "session" },
  acceptAlways: { outcome: "allow", scope: "always" },
  decline: { outcome: "deny", scope: "once" },
  cancel: { outcome: "cancel", scope: "once" },
} as const satisfies Record<string, Decision>;

/** Converts an event to its message on this wire: itself, or a request where a client has to answer. */
export function events(event: ThreadEvent): readonly Outgoing[] {
  switch (event.type) {
    case "approval/requested":
      return [approvalAsk(event.data.threadId, event.data.approval)];
    case "question/requested":
      return [questionAsk(event.data.threadId, event.data.request)];
    case "approval/resolved":
      return [resolved(event.data.approvalId), itself(event)];
    case "question/resolved":
      return [resolved(event.data.questionId), itself(event)];
    case "tool/requested":
      return [toolAsk(event.data.threadId, event.data.request)];
    case "tool/resolved":
      return [resolved(event.data.callId), itself(event)];
    case "extension/notified":
      return [extension(event.data)];
    default:
      // Every other event, a new one too, is sent under its own name.
      return [itself(event)];
  }
}

function resolved(key: string): Resolved {
  return { kind: "resolved", key };
}

function itself({ type, data, seq, at }: ThreadEvent): Notification {
  return { kind: "notification", method: type, params: seq === undefined ? data : { ...data, seq, at } };
}

/** The first segments of all names on this wire; an agent's own notifications must begin otherwise. */
const OWN_PREFIXES = new Set(
  [...Object.keys(METHODS), ...Object.keys(EVENTS), ...Object.keys(ASKS)].map((name) => name.split("/")[0]),
);

/** An agent's own notification. A name that could be taken for one of ours, or has no prefix, goes under `agent/`. */
function extension({ threadId, method, params }: EventData<"extension/notified">): Notification {
  const confusable = !method.includes("/") || OWN_PREFIXES.has(method.split("/")[0]);
  return {
    kind: "notification",
    method: confusable ? `agent/${method}` : method,
    params: { ...params, threadId },
  };
}

function approvalAsk(threadId: string, approval: Approval): Ask {
  const {
    id: approvalId,
    turnId,
    action,
    agent,
    project,
    suggestions,
    requestedAtMs,
    expiresAtMs,
  } = approval;
  const offered = {
    ...(agent === undefined ? {} : { agent }),
    ...(project === undefined ? {} : { project }),
    ...(suggestions === undefined ? {} : { suggestions }),
  };
  const { kind: _kind, ...shown } = action;
  return {
    kind: "ask",
    method: askOf(action.kind),
    params: { threadId, turnId, approvalId, ...shown, ...offered, requestedAtMs, expiresAtMs },
    threadId,
    key: approvalId,
    answered: (answer) => decide(threadId, approvalId, decisionOf(answer, suggestions)),
    refused: (message) => decide(threadId, approvalId, { outcome: "deny", scope: "once", message }),
  };
}

function askOf(kind: Approval["action"]["kind"]): AskName {
  switch (kind) {
    case "command":
      return "item/commandExecution/requestApproval";
    case "fileChange":
      return "item/fileChange/requestApproval";
    case "tool":
      return "item/toolCall/requestApproval";
  }
}

/**
 * Returns the decision in a client's answer. Anything but plain consent denies, also a rule that was not
 * offered.
 */
export function decisionOf(answer: unknown, offered: Approval["suggestions"] = []): Decision {
  const parsed = ApprovalAnswer.safeParse(answer);
  if (!parsed.success) {
    return { outcome: "deny", scope: "once", message: "The client's answer was not understood." };
  }
  const { decision, message } = parsed.data;
  if (typeof decision !== "string") return isOffered(decision, offered) ? decision : NOT_OFFERED;
  return message === undefined ? DECISIONS[decision] : { ...DECISIONS[decision], message };
}

const NOT_OFFERED: Decision = {
  outcome: "deny",
  scope: "once",
  message: "The client's answer takes a rule that was not offered.",
};

function isOffered(
  { outcome, scope, rule }: Decision,
  offered: NonNullable<Approval["suggestions"]>,
): boolean {
  if (outcome !== "allow" || scope === "once" || rule === undefined) return true;
  return offered.some(({ id }) => id === rule);
}

function decide(threadId: string, approvalId: string, decision: Decision): CoreCall {
  return { method: "approval/respond", params: { threadId, approvalId, decision } };
}

function questionAsk(threadId: string, request: QuestionRequest): Ask {
  const { id: questionId, turnId, itemId, questions, requestedAtMs, expiresAtMs } = request;
  const respond = (answers: Answers): CoreCall => ({
    method: "question/respond",
    params: { threadId, questionId, answers },
  });
  return {
    kind: "ask",
    method: "item/tool/requestUserInput",
    params: { threadId, turnId, itemId, questionId, questions, requestedAtMs, expiresAtMs },
    threadId,
    key: questionId,
    answered: (answer) => respond(answersOf(answer)),
    refused: () => respond({}),
  };
}

function toolAsk(threadId: string, request: ToolCallRequest): Ask {
  const { id: callId, ...shown } = request;
  const respond = (result: ToolCallResult): CoreCall => ({
    method: "tool/respond",
    params: { threadId, callId, result },
  });
  return {
    kind: "ask",
    method: "item/tool/call",
    params: { threadId, callId, ...shown },
    threadId,
    key: callId,
    answered: (answer) => respond(resultOf(answer)),
    refused: (message) => respond(failedToolCall(message)),
  };
}

function resultOf(answer: unknown): ToolCallResult {
  const parsed = ToolCallResult.safeParse(answer);
  if (parsed.success) return parsed.data;
  return failedToolCall("The client answered with something that is not a tool result.");
}

function answersOf(answer: unknown): Answers {
  const answers: unknown =
    typeof answer === "object" && answer !== null ? Reflect.get(answer, "answers") : undefined;
  const parsed = Answers.safeParse(answers);
  return parsed.success ? parsed.data : {};
}
