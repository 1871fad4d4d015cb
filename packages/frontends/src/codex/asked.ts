import {
  type Action,
  type Answers,
  type Approval,
  type Decision,
  type EventData,
  failedToolCall,
  type QuestionRequest,
  type ToolCallResult,
} from "@flint/protocol";
import {
  CODEX_SERVER_REQUESTS,
  type CodexCommandDecision,
  type CodexServerParams,
  type CodexServerRequest,
} from "@flint/protocol/codex";
import type { Ask } from "../shared/client-asks.ts";
import type { CoreCall } from "../shared/core-calls.ts";
import { toolCallParams, toolCallResult } from "./client-tools.ts";
import { commandFields } from "./items.ts";

/** Something that clients of Codex are asked. */
export interface CodexAsk extends Ask {
  readonly method: CodexServerRequest;
}

const ONCE = { outcome: "allow", scope: "once" } as const satisfies Decision;
const NO = { outcome: "deny", scope: "once" } as const satisfies Decision;

/** An approval as Codex asks for it: a command, a change of files, or the call of a tool. */
export function approvalAsked({ threadId, approval }: EventData<"approval/requested">): CodexAsk {
  const respond = (decision: Decision): CoreCall => ({
    method: "approval/respond",
    params: { threadId, approvalId: approval.id, decision },
  });
  return {
    kind: "ask",
    key: approval.id,
    threadId,
    ...requestOf(threadId, approval),
    answered: (answer) => respond(decisionOf(approval, answer)),
    refused: (message) => respond({ ...NO, message }),
  };
}

/** A question as Codex asks it. */
export function questionAsked({ threadId, request }: EventData<"question/requested">): CodexAsk {
  const respond = (answers: Answers): CoreCall => ({
    method: "question/respond",
    params: { threadId, questionId: request.id, answers },
  });
  return {
    kind: "ask",
    key: request.id,
    threadId,
    ...asking("item/tool/requestUserInput", questionParams(threadId, request)),
    answered: (answer) => {
      const read = CODEX_SERVER_REQUESTS["item/tool/requestUserInput"].result.safeParse(answer);
      return respond(read.success ? read.data.answers : {});
    },
    refused: () => respond({}),
  };
}

/** The call of a client's tool as Codex makes it. */
export function toolCallAsked(data: EventData<"tool/requested">): CodexAsk {
  const { threadId, request } = data;
  const respond = (result: ToolCallResult): CoreCall => ({
    method: "tool/respond",
    params: { threadId, callId: request.id, result },
  });
  return {
    kind: "ask",
    key: request.id,
    threadId,
    ...asking("item/tool/call", toolCallParams(data)),
    answered: (answer) => respond(toolCallResult(answer)),
    refused: (message) => respond(failedToolCall(message)),
  };
}

type Request = Pick<CodexAsk, "method" | "params">;

function asking<Name extends CodexServerRequest>(method: Name, params: CodexServerParams<Name>): Request {
  return { method, params };
}

function requestOf(threadId: string, approval: Approval): Request {
  const { turnId, action, requestedAtMs: startedAtMs } = approval;
  const place = { threadId, turnId, itemId: action.itemId, startedAtMs };
  const reason = action.reason ?? null;
  switch (action.kind) {
    case "command":
      return asking("item/commandExecution/requestApproval", {
        kind: "command",
        ...place,
        environmentId: "local",
        reason,
        ...commandFields(action.command),
        cwd: action.cwd,
        ...offered(approval),
      });
    case "fileChange":
      return asking("item/fileChange/requestApproval", { ...place, reason, grantRoot: null });
    case "tool":
      return toolRequest(threadId, turnId, action);
  }
}

/** Codex asks for the consent to call a tool as if its server asked for it: an empty form with a message. */
function toolRequest(threadId: string, turnId: string, action: Extract<Action, { kind: "tool" }>): Request {
  const { tool, server, reason } = action;
  const given = JSON.stringify(action.arguments ?? {});
  const message = [`Allow ${server ?? "the agent"} to run ${tool} with ${given}?`, reason]
    .filter((part) => part !== undefined)
    .join(" ");
  return asking("mcpServer/elicitation/request", {
    threadId,
    turnId,
    serverName: server ?? tool,
    mode: "form",
    _meta: {
      codex_approval_kind: "mcp_tool_call",
      persist: ["session", "always"],
      tool_title: tool,
      tool_params: action.arguments ?? {},
    },
    message,
    requestedSchema: { type: "object", properties: {} },
  });
}

/** The rule that may be taken for always, if there is one, and the answers that clients are to offer. */
function offered({ suggestions = [] }: Approval) {
  const words = prefixIn(suggestions);
  const simple: CodexCommandDecision[] = ["accept", "acceptForSession"];
  if (words === undefined)
    return { availableDecisions: [...simple, "decline", "cancel"] satisfies CodexCommandDecision[] };
  const always = { acceptWithExecpolicyAmendment: { execpolicy_amendment: words } };
  return {
    proposedExecpolicyAmendment: words,
    availableDecisions: [...simple, always, "decline", "cancel"] satisfies CodexCommandDecision[],
  };
}

function prefixIn(suggestions: NonNullable<Approval["suggestions"]>): string[] | undefined {
  for (const { match } of suggestions) if (match.type === "prefix") return match.words;
  return undefined;
}

function decisionOf(approval: Approval, answer: unknown): Decision {
  switch (approval.action.kind) {
    case "command":
      return commandDecision(approval, answer);
    case "fileChange": {
      const read = CODEX_SERVER_REQUESTS["item/fileChange/requestApproval"].result.safeParse(answer);
      return read.success ? plainDecision(read.data.decision) : unreadable(answer);
    }
    case "tool": {
      const read = CODEX_SERVER_REQUESTS["mcpServer/elicitation/request"].result.safeParse(answer);
      return read.success ? toolDecision(read.data) : unreadable(answer);
    }
  }
}

function commandDecision({ suggestions = [] }: Approval, answer: unknown): Decision {
  const read = CODEX_SERVER_REQUESTS["item/commandExecution/requestApproval"].result.safeParse(answer);
  if (!read.success) return unreadable(answer);
  const { decision } = read.data;
  if (typeof decision === "string") return plainDecision(decision);
  if (!("acceptWithExecpolicyAmendment" in decision)) {
    return networkDecision(decision.applyNetworkPolicyAmendment.network_policy_amendment);
  }
  const wanted = decision.acceptWithExecpolicyAmendment.execpolicy_amendment;
  const taken = suggestions.find(({ match }) => match.type === "prefix" && isSame(match.words, wanted));
  // What was not offered is allowed as far as it was shown, and no further.
  return taken === undefined ? ONCE : { outcome: "allow", scope: "always", rule: taken.id };
}

/** A rule about a host is not kept here: one that lets it be reached is a yes to this command, any other one a no. */
function networkDecision(amendment: unknown): Decision {
  return Object(amendment).action === "allow" ? ONCE : NO;
}

function plainDecision(word: "accept" | "acceptForSession" | "decline" | "cancel"): Decision {
  switch (word) {
    case "accept":
      return ONCE;
    case "acceptForSession":
      return { outcome: "allow", scope: "session" };
    case "decline":
      return NO;
    case "cancel":
      return { outcome: "cancel", scope: "once" };
  }
}

/** A yes for longer stands in `_meta.persist`, which is where it was offered. */
function toolDecision({ action, _meta }: { action: string; _meta?: unknown }): Decision {
  if (action === "cancel") return { outcome: "cancel", scope: "once" };
  if (action !== "accept") return NO;
  const persist: unknown = Object(_meta).persist;
  return { outcome: "allow", scope: persist === "session" || persist === "always" ? persist : "once" };
}

function unreadable(answer: unknown): Decision {
  return {
    ...NO,
    message: `The client answered with something else: ${JSON.stringify(answer)?.slice(0, 200)}`,
  };
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((word, place) => word === right[place]);
}

function questionParams(
  threadId: string,
  request: QuestionRequest,
): CodexServerParams<"item/tool/requestUserInput"> {
  return {
    threadId,
    turnId: request.turnId,
    itemId: request.itemId,
    questions: request.questions.map(({ id, header, question, options, secret }) => ({
      id,
      header: header ?? "Question",
      question,
      isOther: true,
      isSecret: secret ?? false,
      options: options?.map(({ label, description }) => ({ label, description: description ?? "" })) ?? null,
    })),
    isBlocking: true,
    autoResolutionMs: null,
  };
}
