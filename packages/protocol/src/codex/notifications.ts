import * as z from "zod/mini";
import { loose, maybe, notification } from "../shape.ts";
import { CodexAnyItem, CodexFileChange } from "./items.ts";
import { CodexThread, CodexThreadStatus, CodexTokens, CodexTurn, CodexTurnError } from "./values.ts";

const ofThread = { threadId: z.string() };
const ofTurn = { ...ofThread, turnId: z.string() };
const ofItem = { ...ofTurn, itemId: z.string() };
const delta = () => loose({ ...ofItem, delta: z.string() });
const ofThatItem = <Time extends z.core.$ZodShape>(time: Time) =>
  loose({ ...ofTurn, item: CodexAnyItem, ...time });
const ofThatTurn = () => loose({ ...ofThread, turn: CodexTurn });
const notice = () => loose({ summary: z.string(), details: maybe(z.string()) });

/** Every notification of Codex that Flint understands; any other one is counted and passed by. */
export const CODEX_NOTIFICATIONS = {
  "thread/started": notification("A thread is there.", () => loose({ thread: CodexThread })),
  "thread/status/changed": notification("A thread became idle or active, or waits for somebody.", () =>
    loose({ ...ofThread, status: CodexThreadStatus }),
  ),
  "thread/closed": notification("A thread was put to rest.", () => loose(ofThread)),
  "thread/tokenUsage/updated": notification("What the thread used: in all, and by its latest call.", () =>
    loose({
      ...ofTurn,
      tokenUsage: loose({
        total: CodexTokens,
        last: CodexTokens,
        modelContextWindow: maybe(z.number()),
      }),
    }),
  ),
  "turn/started": notification("A turn began.", ofThatTurn),
  "turn/completed": notification("A turn ended, one way or another.", ofThatTurn),
  "turn/plan/updated": notification("The plan of the turn, whole.", () =>
    loose({
      ...ofTurn,
      explanation: maybe(z.string()),
      plan: z.array(loose({ step: z.string(), status: z.string() })),
    }),
  ),
  "turn/diff/updated": notification("All file changes of the turn so far.", () =>
    loose({ ...ofTurn, diff: z.string() }),
  ),
  "item/started": notification("Work on an item began.", () =>
    ofThatItem({ startedAtMs: maybe(z.number()) }),
  ),
  "item/completed": notification("An item is final.", () => ofThatItem({ completedAtMs: maybe(z.number()) })),
  "item/agentMessage/delta": notification("Text of the agent.", delta),
  "item/plan/delta": notification("Text of a plan; it may differ from the plan in the end.", delta),
  "item/reasoning/textDelta": notification("Text of the reasoning.", () =>
    loose({ ...ofItem, delta: z.string(), contentIndex: z.optional(z.number()) }),
  ),
  "item/reasoning/summaryTextDelta": notification("Text of the summary of the reasoning.", () =>
    loose({ ...ofItem, delta: z.string(), summaryIndex: z.optional(z.number()) }),
  ),
  "item/reasoning/summaryPartAdded": notification("A further part of the summary begins.", () =>
    loose({ ...ofItem, summaryIndex: z.number() }),
  ),
  "item/commandExecution/outputDelta": notification("Output of a command.", delta),
  "item/fileChange/patchUpdated": notification("What changes, while it is being written.", () =>
    loose({ ...ofItem, changes: z.array(CodexFileChange) }),
  ),
  "item/mcpToolCall/progress": notification("An MCP tool says how far it is.", () =>
    loose({ ...ofItem, message: z.string() }),
  ),
  "serverRequest/resolved": notification("A request of Codex needs no answer any more.", () =>
    loose({ ...ofThread, requestId: z.union([z.string(), z.number()]) }),
  ),
  "model/rerouted": notification("Another model than the chosen one does the work.", () =>
    loose({ ...ofTurn, fromModel: z.string(), toModel: z.string(), reason: z.string() }),
  ),
  error: notification("Something went wrong in a turn. With `willRetry` the turn goes on.", () =>
    loose({ ...ofTurn, error: CodexTurnError, willRetry: z.boolean() }),
  ),
  warning: notification("Something the user should know.", () =>
    loose({ threadId: maybe(z.string()), message: z.string() }),
  ),
  configWarning: notification("Something in the configuration has no effect.", notice),
  deprecationNotice: notification("Something that is used will go away.", notice),
  "account/rateLimits/updated": notification("How much of the account's limits is used.", () =>
    loose({ rateLimits: z.record(z.string(), z.unknown()) }),
  ),
  "mcpServer/startupStatus/updated": notification("How the start of an MCP server goes.", () =>
    loose({
      threadId: maybe(z.string()),
      name: z.string(),
      status: z.string(),
      error: maybe(z.string()),
    }),
  ),
} as const;

/** The name of a notification of Codex. */
export type CodexNotificationMethod = keyof typeof CODEX_NOTIFICATIONS;
/** A notification of Codex, read. */
export type CodexNotification = {
  [Method in CodexNotificationMethod]: {
    readonly method: Method;
    readonly params: z.output<(typeof CODEX_NOTIFICATIONS)[Method]["params"]>;
  };
}[CodexNotificationMethod];

/** Reads a notification; undefined if it is unknown, or its shape is not the one we know. */
export function readCodexNotification(method: string, params: unknown): CodexNotification | undefined {
  if (!Object.hasOwn(CODEX_NOTIFICATIONS, method)) return undefined;
  // The table was just found to have this name.
  const known = method as CodexNotificationMethod;
  const read = CODEX_NOTIFICATIONS[known].params.safeParse(params);
  if (!read.success) return undefined;
  const notification: unknown = { method: known, params: read.data };
  // Name and params come from the same row of the table.
  return notification as CodexNotification;
}
