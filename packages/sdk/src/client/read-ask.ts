import { type Action, ASKS, type Ask, type RuleSuggestion, type UserQuestion } from "@flint/protocol";
import { problemOf } from "../errors.ts";
import type { KnownEvent } from "../events/agent-event.ts";

/** An action that needs approval. */
export type ApprovalRequest = {
  readonly threadId: string;
  readonly turnId: string;
  readonly approvalId: string;
  readonly action: Action;
  /** The agent that asks, and the folder of its thread: what an answer beyond this time applies to. */
  readonly agent?: string | undefined;
  readonly project?: string | undefined;
  /**
   * Rules that an answer may allow instead of exactly this action: a decision with the id of one of them as
   * its `rule`.
   */
  readonly suggestions?: readonly RuleSuggestion[] | undefined;
  readonly requestedAtMs?: number | undefined;
  /** Time at which it is declined without an answer. */
  readonly expiresAtMs?: number | undefined;
};

/** Questions of an agent to the user. */
export type UserInputRequest = {
  readonly threadId: string;
  readonly turnId: string;
  readonly itemId: string;
  readonly questionId: string;
  readonly questions: readonly UserQuestion[];
  readonly requestedAtMs?: number | undefined;
  readonly expiresAtMs?: number | undefined;
};

/** A call of a tool that this client, or another one of the thread, offers. */
export type ToolCall = {
  readonly threadId: string;
  readonly turnId: string;
  readonly itemId: string;
  readonly callId: string;
  readonly tool: string;
  readonly namespace?: string | undefined;
  readonly arguments?: unknown;
  readonly requestedAtMs?: number | undefined;
  /** Time at which the call fails without an answer. */
  readonly expiresAtMs?: number | undefined;
};

/** A request of the server by kind: an approval, a question, a tool call, or nothing that this SDK can handle. */
export type ReadAsk =
  | { readonly kind: "approval"; readonly request: ApprovalRequest }
  | { readonly kind: "question"; readonly request: UserInputRequest }
  | { readonly kind: "toolCall"; readonly request: ToolCall }
  | { readonly kind: "unknown" }
  | { readonly kind: "malformed"; readonly problem: string };

/** Reads a request of the server. Pure. */
export function readAsk(method: string, params: unknown): ReadAsk {
  if (!isAsk(method)) return { kind: "unknown" };
  switch (method) {
    case "item/commandExecution/requestApproval": {
      const parsed = ASKS[method].params.safeParse(params);
      if (!parsed.success) return malformed(parsed.error);
      const { command, cwd, running } = parsed.data;
      const state = running === undefined ? {} : { running };
      return approval(parsed.data, { kind: "command", ...itemOf(parsed.data), command, cwd, ...state });
    }
    case "item/fileChange/requestApproval": {
      const parsed = ASKS[method].params.safeParse(params);
      if (!parsed.success) return malformed(parsed.error);
      return approval(parsed.data, {
        kind: "fileChange",
        ...itemOf(parsed.data),
        changes: parsed.data.changes,
      });
    }
    case "item/toolCall/requestApproval": {
      const parsed = ASKS[method].params.safeParse(params);
      if (!parsed.success) return malformed(parsed.error);
      const { tool, server, arguments: given } = parsed.data;
      const optional = { ...(server === undefined ? {} : { server }), arguments: given };
      return approval(parsed.data, { kind: "tool", ...itemOf(parsed.data), tool, ...optional });
    }
    case "item/tool/requestUserInput": {
      const parsed = ASKS[method].params.safeParse(params);
      return parsed.success ? { kind: "question", request: parsed.data } : malformed(parsed.error);
    }
    case "item/tool/call": {
      const parsed = ASKS[method].params.safeParse(params);
      return parsed.success ? { kind: "toolCall", request: parsed.data } : malformed(parsed.error);
    }
  }
}

/**
 * The event that a request of the server also is. Undefined for a request without its times.
 */
export function askedEvent(ask: ReadAsk): KnownEvent | undefined {
  if (ask.kind === "unknown" || ask.kind === "malformed") return undefined;
  const { threadId, turnId, requestedAtMs, expiresAtMs } = ask.request;
  if (requestedAtMs === undefined || expiresAtMs === undefined) return undefined;
  const open = { turnId, requestedAtMs, expiresAtMs };
  if (ask.kind === "approval") {
    const { approvalId: id, action, suggestions, agent, project } = ask.request;
    const offered = suggestions === undefined ? {} : { suggestions: [...suggestions] };
    const approval = { ...open, id, action, ...actorOf({ agent, project }), ...offered };
    return { type: "approval/requested", data: { threadId, approval } };
  }
  if (ask.kind === "toolCall") {
    const { callId: id, itemId, tool, namespace, arguments: given } = ask.request;
    const of = namespace === undefined ? {} : { namespace };
    const request = { ...open, id, itemId, tool, ...of, arguments: given };
    return { type: "tool/requested", data: { threadId, request } };
  }
  const { questionId: id, itemId, questions } = ask.request;
  return {
    type: "question/requested",
    data: { threadId, request: { ...open, id, itemId, questions: [...questions] } },
  };
}

function isAsk(method: string): method is Ask {
  return Object.hasOwn(ASKS, method);
}

function approval(params: Omit<ApprovalRequest, "action">, action: Action): ReadAsk {
  const { threadId, turnId, approvalId, suggestions, requestedAtMs, expiresAtMs } = params;
  const offered = suggestions === undefined ? {} : { suggestions };
  const times = requestedAtMs === undefined ? {} : { requestedAtMs, expiresAtMs };
  const request = { threadId, turnId, approvalId, action, ...actorOf(params), ...offered, ...times };
  return { kind: "approval", request };
}

function actorOf({ agent, project }: Pick<ApprovalRequest, "agent" | "project">) {
  return { ...(agent === undefined ? {} : { agent }), ...(project === undefined ? {} : { project }) };
}

type ItemFields = Pick<Action, "itemId" | "reason" | "needs" | "why" | "after">;

function itemOf({ itemId, reason, needs, why, after }: ItemFields): ItemFields {
  return {
    itemId,
    ...(reason === undefined ? {} : { reason }),
    ...(needs === undefined ? {} : { needs }),
    ...(why === undefined ? {} : { why }),
    ...(after === undefined ? {} : { after }),
  };
}

function malformed(error: Parameters<typeof problemOf>[0]): ReadAsk {
  return { kind: "malformed", problem: problemOf(error) };
}
