import * as z from "zod/mini";
import { PreviousRun } from "./approval/action.ts";
import { Answers, UserQuestion } from "./approval/approval.ts";
import { RuleSuggestion } from "./approval/grant.ts";
import { Permission } from "./approval/permission.ts";
import { Decision } from "./approval/policy.ts";
import { EVENTS } from "./events.ts";
import { METHODS } from "./methods.ts";
import { ToolCallResult } from "./thread/client-tool.ts";
import { FileUpdateChange } from "./thread/item-schemas.ts";
import { Id } from "./wire/ids.ts";
import { Empty, lazy, looseObject } from "./wire/loose-object.ts";
import { defineVocabulary, type NotificationRow, SERVER_CODES, STANDARD_CODES } from "./wire/vocabulary.ts";

/** Time of the request, and the time at which it is declined if no client has answered. */
const times = { requestedAtMs: z.optional(z.number()), expiresAtMs: z.optional(z.number()) };
const asked = lazy(() => ({
  ...times,
  threadId: Id,
  turnId: Id,
  itemId: Id,
  approvalId: Id,
  reason: z.optional(z.string()),
  /** Permissions that it needs beyond its sandbox. */
  needs: z.optional(Permission),
  /** The reason it needs that, in the words of the agent. */
  why: z.optional(z.string()),
  /** Set if it has run before. */
  after: z.optional(PreviousRun),
  /** The agent that asks, and the folder of its thread: what an answer beyond this time applies to. */
  agent: z.optional(z.string()),
  project: z.optional(z.string()),
  /** Rules that an answer may allow instead of exactly this action, by id as the `rule` of a decision. */
  suggestions: z.optional(z.array(RuleSuggestion)),
}));

/** The answer of a client to an approval: a name, or the whole decision. */
export const ApprovalAnswer = looseObject(() => ({
  decision: z.union([z.enum(["accept", "acceptForSession", "acceptAlways", "decline", "cancel"]), Decision]),
  message: z.optional(z.string()),
}));
export type ApprovalAnswer = z.output<typeof ApprovalAnswer>;

/** Requests that Flint sends to its clients; the first answer of any client counts. */
export const ASKS = {
  "item/commandExecution/requestApproval": {
    doc: "May the agent run this command?",
    params: looseObject(() => ({
      ...asked(),
      command: z.string(),
      cwd: z.string(),
      /** Set if it runs already and waits for what it needs. */
      running: z.optional(z.boolean()),
    })),
    result: ApprovalAnswer,
  },
  "item/fileChange/requestApproval": {
    doc: "May the agent change these files?",
    params: looseObject(() => ({ ...asked(), changes: z.array(FileUpdateChange) })),
    result: ApprovalAnswer,
  },
  "item/toolCall/requestApproval": {
    doc: "May the agent call this tool?",
    params: looseObject(() => ({
      ...asked(),
      tool: z.string(),
      server: z.optional(z.string()),
      arguments: z.optional(z.unknown()),
    })),
    result: ApprovalAnswer,
  },
  "item/tool/requestUserInput": {
    doc: "The agent asks the user questions.",
    params: looseObject(() => ({
      ...times,
      threadId: Id,
      turnId: Id,
      itemId: Id,
      questionId: Id,
      questions: z.array(UserQuestion),
    })),
    result: looseObject(() => ({ answers: Answers })),
  },
  "item/tool/call": {
    doc: "The agent calls a tool that a client offered with `thread/start` or `thread/resume`.",
    params: looseObject(() => ({
      ...times,
      threadId: Id,
      turnId: Id,
      itemId: Id,
      callId: Id,
      tool: z.string(),
      namespace: z.optional(z.string()),
      arguments: z.optional(z.unknown()),
    })),
    result: ToolCallResult,
  },
} as const;

/** The name of a request to the client. */
export type Ask = keyof typeof ASKS;

function notificationOf(event: { readonly doc: string; readonly data: z.ZodMiniType }): NotificationRow {
  return {
    doc: event.doc,
    get params() {
      return event.data;
    },
  };
}

/** These are sent as requests, or under the agent's own name. */
const NOT_SENT: readonly string[] = [
  "approval/requested",
  "question/requested",
  "tool/requested",
  "extension/notified",
];

/** The events that are sent under their own name. */
const sentEvents = Object.fromEntries(
  Object.entries(EVENTS)
    .filter(([name]) => !NOT_SENT.includes(name))
    .map(([name, event]): [string, NotificationRow] => [name, notificationOf(event)]),
);

/** Flint's own wire: JSON lines without the `jsonrpc` field. */
export const FLINT = defineVocabulary({
  name: "flint",
  header: false,
  requests: METHODS,
  notifications: { initialized: { doc: "The client is ready.", params: Empty } },
  serverRequests: ASKS,
  serverNotifications: sentEvents,
  errorCodes: {
    ...STANDARD_CODES,
    alreadyInitialized: STANDARD_CODES.invalidRequest,
    notInitialized: -32000,
    threadNotFound: -32001,
    turnInProgress: -32002,
    notRunning: -32003,
    approvalNotFound: -32004,
    turnNotFound: -32005,
    ...SERVER_CODES,
  },
});
