import {
  Answers,
  type Approval,
  ApprovalAnswer,
  ASKS,
  type Ask,
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
import { type CoreCall, identityCall, type Outbound } from "../dialect.ts";

/** The words of this door for an answer, and what they mean. */
const DECISIONS = {
  accept: { outcome: "allow", scope: "once" },
  acceptForSession: { outcome: "allow", scope: "session" },
  acceptAlways: { outcome: "allow", scope: "always" },
  decline: { outcome: "deny", scope: "once" },
  cancel: { outcome: "cancel", scope: "once" },
} as const satisfies Record<string, Decision>;

/** An event as the messages of this door: itself, or a request where somebody has to answer. */
export function outbound(event: ThreadEvent): readonly Outbound[] {
  switch (event.type) {
    case "approval/requested":
      return [approvalAsk(event.data.threadId, event.data.approval)];
    case "question/requested":
      return [questionAsk(event.data.threadId, event.data.request)];
    case "approval/resolved":
      return [{ kind: "settle", key: event.data.approvalId }, itself(event)];
    case "question/resolved":
      return [{ kind: "settle", key: event.data.questionId }, itself(event)];
    case "tool/requested":
      return [toolAsk(event.data.threadId, event.data.request)];
    case "tool/resolved":
      return [{ kind: "settle", key: event.data.callId }, itself(event)];
    case "extension/notified":
      return [extension(event.data)];
    default:
      return [itself(event)];
  }
}

function itself({ type, data, seq, at }: ThreadEvent): Outbound {
  return { kind: "tell", method: type, params: seq === undefined ? data : { ...data, seq, at } };
}

/** The first parts of all words of this door; an agent's own words must begin otherwise. */
const OWN_PREFIXES = new Set(
  [...Object.keys(METHODS), ...Object.keys(EVENTS), ...Object.keys(ASKS)].map((word) => word.split("/")[0]),
);

/** An agent's own notification. A name that could be taken for one of ours, or has no prefix, goes under `agent/`. */
function extension({ threadId, method, params }: EventData<"extension/notified">): Outbound {
  const confusable = !method.includes("/") || OWN_PREFIXES.has(method.split("/")[0]);
  return { kind: "tell", method: confusable ? `agent/${method}` : method, params: { ...params, threadId } };
}

function approvalAsk(threadId: string, approval: Approval): Outbound {
  const { id: approvalId, turnId, action, suggestions, requestedAtMs, expiresAtMs } = approval;
  const offered = suggestions === undefined ? {} : { suggestions };
  const { kind: _kind, ...shown } = action;
  return {
    kind: "ask",
    method: askOf(action.kind),
    params: { threadId, turnId, approvalId, ...shown, ...offered, requestedAtMs, expiresAtMs },
    threadId,
    key: approvalId,
    answered: (answer) => respond(threadId, approvalId, decisionOf(answer, suggestions)),
    refused: (message) => respond(threadId, approvalId, { outcome: "deny", scope: "once", message }),
  };
}

function askOf(kind: Approval["action"]["kind"]): Ask {
  switch (kind) {
    case "command":
      return "item/commandExecution/requestApproval";
    case "fileChange":
      return "item/fileChange/requestApproval";
    case "tool":
      return "item/toolCall/requestApproval";
  }
}

/** What a client's answer means. Whatever is not plainly a yes is a no, also one that takes a rule nobody offered. */
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

function respond(threadId: string, approvalId: string, decision: Decision): CoreCall {
  return identityCall("approval/respond", { threadId, approvalId, decision });
}

function questionAsk(threadId: string, request: QuestionRequest): Outbound {
  const { id: questionId, turnId, itemId, questions, requestedAtMs, expiresAtMs } = request;
  return {
    kind: "ask",
    method: "item/tool/requestUserInput",
    params: { threadId, turnId, itemId, questionId, questions, requestedAtMs, expiresAtMs },
    threadId,
    key: questionId,
    answered: (answer) =>
      identityCall("question/respond", { threadId, questionId, answers: answersOf(answer) }),
    refused: () => identityCall("question/respond", { threadId, questionId, answers: {} }),
  };
}

function toolAsk(threadId: string, request: ToolCallRequest): Outbound {
  const { id: callId, ...shown } = request;
  const respond = (result: ToolCallResult) => identityCall("tool/respond", { threadId, callId, result });
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
  return failedToolCall("The client answered with something that is no result of a tool.");
}

function answersOf(answer: unknown): Answers {
  const answers: unknown =
    typeof answer === "object" && answer !== null ? Reflect.get(answer, "answers") : undefined;
  const parsed = Answers.safeParse(answers);
  return parsed.success ? parsed.data : {};
}
