import * as z from "zod/mini";
import { foreignObject, nullish } from "../wire/loose-object.ts";
import { notification } from "../wire/vocabulary.ts";
import { CodexRateLimits } from "./accounts.ts";
import { CodexAnyItem, CodexFileChange } from "./items.ts";
import { ofThread } from "./requests.ts";
import {
  CodexGoal,
  CodexHookRun,
  CodexThread,
  CodexThreadSettings,
  CodexThreadStatus,
  CodexTokens,
  CodexTurn,
  CodexTurnError,
} from "./values.ts";

const ofTurn = { ...ofThread, turnId: z.string() };
const ofItem = { ...ofTurn, itemId: z.string() };
const delta = () => foreignObject({ ...ofItem, delta: z.string() });
const ofThatItem = <Time extends z.core.$ZodShape>(time: Time) =>
  foreignObject({ ...ofTurn, item: CodexAnyItem, ...time });
const ofThatTurn = () => foreignObject({ ...ofThread, turn: CodexTurn });
const notice = () => foreignObject({ summary: z.string(), details: nullish(z.string()) });

const ofHook = () => foreignObject({ ...ofThread, turnId: nullish(z.string()), run: CodexHookRun });

/** Every notification of Codex that Flint translates; any other one is counted and ignored. */
export const CODEX_NOTIFICATIONS = {
  "thread/started": notification("A thread started.", () => foreignObject({ thread: CodexThread })),
  "thread/status/changed": notification(
    "The status of a thread changed: idle, active or waiting for the user.",
    () => foreignObject({ ...ofThread, status: CodexThreadStatus }),
  ),
  "thread/closed": notification("A thread was unloaded.", () => foreignObject(ofThread)),
  "thread/tokenUsage/updated": notification(
    "The token usage of a thread: total, and of its latest call.",
    () =>
      foreignObject({
        ...ofTurn,
        tokenUsage: foreignObject({
          total: CodexTokens,
          last: CodexTokens,
          modelContextWindow: nullish(z.number()),
        }),
      }),
  ),
  "turn/started": notification("A turn started.", ofThatTurn),
  "turn/completed": notification("A turn completed, failed or was interrupted.", ofThatTurn),
  "turn/plan/updated": notification("The plan of the turn, whole.", () =>
    foreignObject({
      ...ofTurn,
      explanation: nullish(z.string()),
      plan: z.array(foreignObject({ step: z.string(), status: z.string() })),
    }),
  ),
  "turn/diff/updated": notification("All file changes of the turn so far.", () =>
    foreignObject({ ...ofTurn, diff: z.string() }),
  ),
  "item/started": notification("An item started.", () => ofThatItem({ startedAtMs: nullish(z.number()) })),
  "item/completed": notification("An item completed.", () =>
    ofThatItem({ completedAtMs: nullish(z.number()) }),
  ),
  "item/agentMessage/delta": notification("Text of the agent.", delta),
  "item/plan/delta": notification("Text of a plan; the final plan may differ.", delta),
  "item/reasoning/textDelta": notification("Text of the reasoning.", () =>
    foreignObject({ ...ofItem, delta: z.string(), contentIndex: z.optional(z.number()) }),
  ),
  "item/reasoning/summaryTextDelta": notification("Text of the summary of the reasoning.", () =>
    foreignObject({ ...ofItem, delta: z.string(), summaryIndex: z.optional(z.number()) }),
  ),
  "item/reasoning/summaryPartAdded": notification("A part of the summary begins.", () =>
    foreignObject({ ...ofItem, summaryIndex: z.number() }),
  ),
  "item/commandExecution/outputDelta": notification("Output of a command.", delta),
  "item/fileChange/patchUpdated": notification("A file change while it is being written.", () =>
    foreignObject({ ...ofItem, changes: z.array(CodexFileChange) }),
  ),
  "item/mcpToolCall/progress": notification("The progress of an MCP tool.", () =>
    foreignObject({ ...ofItem, message: z.string() }),
  ),
  "hook/started": notification("A hook of the user's configuration began.", ofHook),
  "hook/completed": notification("A hook ended.", ofHook),
  "serverRequest/resolved": notification("A request no longer needs an answer.", () =>
    foreignObject({ ...ofThread, requestId: z.union([z.string(), z.number()]) }),
  ),
  "model/rerouted": notification("Another model than the chosen one is used.", () =>
    foreignObject({ ...ofTurn, fromModel: z.string(), toModel: z.string(), reason: z.string() }),
  ),
  error: notification("An error in a turn. With `willRetry` the turn continues.", () =>
    foreignObject({ ...ofTurn, error: CodexTurnError, willRetry: z.boolean() }),
  ),
  warning: notification("A warning for the user.", () =>
    foreignObject({ threadId: nullish(z.string()), message: z.string() }),
  ),
  configWarning: notification("Something in the configuration has no effect.", notice),
  deprecationNotice: notification("Something in use is deprecated.", notice),
  "account/login/completed": notification("A login ended.", () =>
    foreignObject({
      loginId: nullish(z.string()),
      success: z.boolean(),
      error: nullish(z.string()),
      onboardingEntrypoint: z.optional(z.unknown()),
    }),
  ),
  "account/updated": notification("Another account is in use, or none.", () =>
    foreignObject({ authMode: nullish(z.string()), planType: nullish(z.string()) }),
  ),
  "account/rateLimits/updated": notification("How much of the account's limits is used.", () =>
    foreignObject({ rateLimits: CodexRateLimits }),
  ),
  "mcpServer/startupStatus/updated": notification("The startup status of an MCP server.", () =>
    foreignObject({
      threadId: nullish(z.string()),
      name: z.string(),
      status: z.string(),
      error: nullish(z.string()),
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

const thatThread = () => foreignObject(ofThread);

/** Every notification that the Codex front end sends: those that Flint's driver reads, and those for other clients only. */
export const CODEX_SERVER_NOTIFICATIONS = {
  ...CODEX_NOTIFICATIONS,
  "thread/settings/updated": notification("The settings of a thread changed.", () =>
    foreignObject({ ...ofThread, threadSettings: CodexThreadSettings }),
  ),
  "thread/name/updated": notification("The name of a thread changed.", () =>
    foreignObject({ ...ofThread, threadName: nullish(z.string()) }),
  ),
  "thread/archived": notification("A thread was archived.", thatThread),
  "thread/unarchived": notification("A thread was unarchived.", thatThread),
  "thread/deleted": notification("A thread was deleted.", thatThread),
  "thread/reverted": notification("Turns of a thread were reverted or restored.", thatThread),
  "thread/goal/updated": notification("The goal of a thread was set or changed.", () =>
    foreignObject({ ...ofThread, turnId: nullish(z.string()), goal: CodexGoal }),
  ),
  "thread/goal/cleared": notification("The goal of a thread was cleared.", thatThread),
  "thread/queue/changed": notification("The queued inputs of a thread changed.", thatThread),
} as const;

/** The name of a notification that the Codex front end sends. */
export type CodexServerNotification = keyof typeof CODEX_SERVER_NOTIFICATIONS;
/** The params of such a notification. */
export type CodexServerNotificationParams<Name extends CodexServerNotification> = z.input<
  (typeof CODEX_SERVER_NOTIFICATIONS)[Name]["params"]
>;
