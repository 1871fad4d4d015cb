import * as z from "zod/mini";
import { Answers, Approval, QuestionRequest, Resolution, ResolvedBy } from "./approval/approval.ts";
import { Grant } from "./approval/grant.ts";
import { ThreadItem } from "./items.ts";
import { AgentAccount, ConfigOption } from "./server/config.ts";
import { UsageLimit } from "./server/usage-limit.ts";
import { PublishedEvent } from "./task/published-event.ts";
import { ToolCallRequest } from "./thread/client-tool.ts";
import { QueuedInput } from "./thread/input.ts";
import { FileUpdateChange, PlanEntry } from "./thread/item-schemas.ts";
import {
  AgentCommand,
  Goal,
  Thread,
  ThreadSettings,
  ThreadStatus,
  Turn,
  TurnError,
} from "./thread/thread.ts";
import { Cost, TokenUsage } from "./thread/usage.ts";
import { Id } from "./wire/ids.ts";
import { lazy, looseObject } from "./wire/loose-object.ts";

/**
 * The persistence of an event. `stored`: written to the log, then sent. `synced`: written, forced to disk,
 * then sent. `coalesced`: sent at once, and in the log at most 100 ms later, merged per item. `live`: sent,
 * never stored.
 */
export type Persistence = "stored" | "synced" | "coalesced" | "live";

function row<How extends Persistence, Data extends z.ZodMiniType>(
  persistence: How,
  doc: string,
  make: () => Data,
) {
  const data = lazy(make);
  return {
    persistence,
    doc,
    get data() {
      return data();
    },
  };
}

const ofThread = { threadId: Id };
const ofTurn = { threadId: Id, turnId: Id };
/** The name of the client that asked for it, if one did and has a name. */
const byClient = { client: z.optional(z.string()) };

/** A piece of streamed text. `offset` is where it starts in the item's text, so that a repeated piece is recognised. */
const Delta = looseObject(() => ({ ...ofTurn, itemId: Id, delta: z.string(), offset: z.number() }));

const ItemEvent = looseObject(() => ({ ...ofTurn, item: ThreadItem }));
const TurnEvent = looseObject(() => ({ ...ofThread, turn: Turn }));

/** Every event of a thread: its name on the Flint wire, what it carries, how it is persisted. */
export const EVENTS = {
  "thread/started": row("stored", "A thread was created, or resumed by this client.", () =>
    looseObject({ thread: Thread, settings: ThreadSettings }),
  ),
  "thread/settings/updated": row("stored", "Model, folder, policies or selector values changed.", () =>
    looseObject({ ...ofThread, settings: ThreadSettings, ...byClient }),
  ),
  "thread/name/updated": row("stored", "The thread has a new name.", () =>
    looseObject({ ...ofThread, name: z.string(), ...byClient }),
  ),
  "thread/commands/updated": row("stored", "The slash commands of the agent are these from now on.", () =>
    looseObject({ ...ofThread, agent: z.string(), commands: z.array(AgentCommand) }),
  ),
  "thread/goal/updated": row("stored", "The goal of the thread was set or changed.", () =>
    looseObject({ ...ofThread, goal: Goal, ...byClient }),
  ),
  "thread/goal/cleared": row("stored", "The goal of the thread was cleared.", () =>
    looseObject({ ...ofThread, ...byClient }),
  ),
  "thread/archived": row("stored", "The thread was archived.", () =>
    looseObject({ ...ofThread, ...byClient }),
  ),
  "thread/unarchived": row("stored", "The thread was unarchived.", () =>
    looseObject({ ...ofThread, ...byClient }),
  ),
  "thread/deleted": row("live", "The thread and its log were deleted.", () =>
    looseObject({ ...ofThread, ...byClient }),
  ),
  "thread/closed": row("live", "The thread was unloaded; it is loaded again when it is used.", () =>
    looseObject(ofThread),
  ),
  "thread/status/changed": row("live", "The thread became idle or active, or waits for an answer.", () =>
    looseObject({ ...ofThread, status: ThreadStatus }),
  ),
  "thread/session/updated": row(
    "stored",
    "The agent's own session has this id; a later turn resumes it. `cost` is what it has cost by the agent's count.",
    () => looseObject({ ...ofThread, agent: z.string(), nativeId: z.string(), cost: z.optional(Cost) }),
  ),
  "thread/reverted": row(
    "stored",
    "These turns were dropped from the conversation. `files` says whether their files were restored.",
    () =>
      looseObject({
        ...ofThread,
        turnIds: z.array(Id),
        revertId: z.optional(Id),
        files: z.optional(z.enum(["keep", "restore"])),
        ...byClient,
      }),
  ),
  "thread/revert/undone": row(
    "stored",
    "These turns are part of the conversation again. Read a turn whose `itemsView` is `notLoaded` with `thread/read`.",
    () => looseObject({ ...ofThread, revertId: Id, turns: z.array(Turn), ...byClient }),
  ),
  "thread/queue/changed": row("stored", "The inputs that wait for the running turn to end.", () =>
    looseObject({ ...ofThread, queue: z.array(QueuedInput), ...byClient }),
  ),
  "thread/tokenUsage/updated": row(
    "stored",
    "`usage` is the total of the thread, `last` the latest model call. `parentItemId` names the call that started the sub-agent whose usage `last` is.",
    () =>
      looseObject({
        ...ofTurn,
        usage: TokenUsage,
        last: TokenUsage,
        parentItemId: z.optional(Id),
        modelContextWindow: z.optional(z.number()),
        cost: z.optional(Cost),
      }),
  ),
  "turn/started": row("stored", "A turn started.", () => TurnEvent),
  "turn/completed": row(
    "synced",
    "A turn completed, failed or was interrupted. Sent exactly once for each turn. `client` is the one that interrupted it.",
    () => looseObject({ ...ofThread, turn: Turn, ...byClient }),
  ),
  "turn/plan/updated": row("stored", "The whole plan of the turn.", () =>
    looseObject({ ...ofTurn, explanation: z.string(), plan: z.array(PlanEntry) }),
  ),
  "turn/diff/updated": row("stored", "All file changes of the turn so far, as one unified diff.", () =>
    looseObject({ ...ofTurn, diff: z.string() }),
  ),
  "item/started": row("stored", "An item started.", () => ItemEvent),
  "item/completed": row("stored", "An item completed; this state is authoritative.", () => ItemEvent),
  "item/agentMessage/delta": row("coalesced", "Text of the agent.", () => Delta),
  "item/reasoning/textDelta": row("coalesced", "Text of the agent's reasoning.", () => Delta),
  "item/reasoning/summaryTextDelta": row("coalesced", "Text of the summary of the reasoning.", () => Delta),
  "item/commandExecution/outputDelta": row("coalesced", "Output of a command.", () => Delta),
  "item/fileChange/outputDelta": row("coalesced", "Text of a patch as it is made.", () => Delta),
  "item/fileChange/patchUpdated": row("live", "All changes of a file change that is being made.", () =>
    looseObject({ ...ofTurn, itemId: Id, changes: z.array(FileUpdateChange) }),
  ),
  "item/plan/delta": row("coalesced", "Text of a plan.", () => Delta),
  "item/mcpToolCall/progress": row("live", "The progress of an MCP tool call.", () =>
    looseObject({ ...ofTurn, itemId: Id, message: z.string() }),
  ),
  "approval/requested": row("stored", "The agent asks for approval.", () =>
    looseObject({ ...ofThread, approval: Approval }),
  ),
  "approval/resolved": row("synced", "An approval was answered or is no longer needed.", () =>
    looseObject({ ...ofTurn, approvalId: Id, itemId: Id, resolution: Resolution }),
  ),
  "grant/changed": row(
    "synced",
    "A command was allowed once after its approval had ended, or such a grant was used.",
    () =>
      looseObject({
        ...ofThread,
        grant: Grant,
        status: z.enum(["added", "used"]),
        approvalId: z.optional(Id),
      }),
  ),
  "question/requested": row("stored", "The agent asks the user questions.", () =>
    looseObject({ ...ofThread, request: QuestionRequest }),
  ),
  "question/resolved": row("synced", "A question was answered, or is no longer open.", () =>
    looseObject({
      ...ofTurn,
      questionId: Id,
      itemId: Id,
      answers: Answers,
      by: ResolvedBy,
      client: z.optional(z.string()),
    }),
  ),
  "tool/requested": row("stored", "The agent calls a tool that a client offers; the client runs it.", () =>
    looseObject({ ...ofThread, request: ToolCallRequest }),
  ),
  "tool/resolved": row("synced", "A call of a client's tool ended; its item has the result.", () =>
    looseObject({ ...ofTurn, callId: Id, itemId: Id, success: z.boolean(), by: ResolvedBy }),
  ),
  error: row("stored", "Something went wrong in a turn. With `willRetry` the turn continues.", () =>
    looseObject({ ...ofTurn, error: TurnError, willRetry: z.boolean() }),
  ),
  warning: row(
    "live",
    "Something the user should know, such as a damaged log. `reason` names what it is about: `configuration` and `deprecation` are the agent's own warnings of that kind.",
    () =>
      looseObject({
        ...ofThread,
        /** The turn whose agent it is from. */
        turnId: z.optional(Id),
        message: z.string(),
        reason: z.string(),
        details: z.optional(z.string()),
      }),
  ),
  "model/rerouted": row("stored", "Another model is used instead of the chosen one.", () =>
    looseObject({ ...ofTurn, fromModel: z.string(), toModel: z.string(), reason: z.string() }),
  ),
  "config/updated": row("live", "The selectors of the thread or of the server changed.", () =>
    looseObject({ threadId: z.optional(Id), options: z.array(ConfigOption) }),
  ),
  "account/login/completed": row(
    "live",
    "A login to an agent that `account/login/start` started has ended.",
    () =>
      looseObject({
        threadId: z.optional(Id),
        agent: z.string(),
        loginId: z.optional(z.string()),
        success: z.boolean(),
        error: z.optional(z.string()),
      }),
  ),
  "account/updated": row("live", "An agent works with another account from now on, or with none.", () =>
    looseObject({
      threadId: z.optional(Id),
      agent: z.string(),
      kind: z.optional(z.string()),
      account: z.nullable(AgentAccount),
    }),
  ),
  "account/limits": row(
    "live",
    "What is known of the usage limits of an agent's account, after the agent of this thread reported a change.",
    () => looseObject({ ...ofThread, agent: z.string(), limits: z.array(UsageLimit) }),
  ),
  "task/event": row(
    "live",
    "Something happened in a turn of a task, for clients that called `task/subscribe`. `event` has the form in which other programs know it.",
    () => looseObject({ threadId: z.optional(Id), event: PublishedEvent }),
  ),
  "extension/notified": row(
    "live",
    "A notification of the agent; on the wire it has the agent's own method name, prefixed by its provider.",
    () => looseObject({ ...ofThread, method: z.string(), params: z.record(z.string(), z.unknown()) }),
  ),
} as const;

/** The name of an event. */
export type EventType = keyof typeof EVENTS;
/** The data of an event of this name. */
export type EventData<Type extends EventType> = z.output<(typeof EVENTS)[Type]["data"]>;

/** An event before it is stored or sent: its name and its data. */
export type EventBody = { [Type in EventType]: { type: Type; data: EventData<Type> } }[EventType];

/** The names of the events that are persisted in this way. */
export type EventTypePersisted<How extends Persistence> = {
  [Type in EventType]: (typeof EVENTS)[Type]["persistence"] extends How ? Type : never;
}[EventType];

/** The name of an event that carries a piece of streamed text. */
export type DeltaType = EventTypePersisted<"coalesced">;
/** A piece of streamed text. */
export type DeltaBody = Extract<EventBody, { type: DeltaType }>;

/**
 * An event that happened. `seq` rises by one with every stored event of a thread; an event without it was sent
 * but is not, or not yet, in the log. `at` is in unix milliseconds.
 */
export type ThreadEvent = EventBody & { readonly seq?: number; readonly at: number };

/** An event in the log. */
export type StoredEvent = EventBody & { readonly seq: number; readonly at: number };

/** An event of the log, for a client that reads a thread without subscribing to it. */
export const LoggedEvent = looseObject(() => ({
  seq: z.number(),
  at: z.number(),
  type: z.string(),
  data: z.unknown(),
}));

/** Returns the persistence of events of this name. */
export function persistenceOf(type: EventType): Persistence {
  return EVENTS[type].persistence;
}

/** Reports whether a name from a wire or a file is a known event. */
export function isEventType(name: string): name is EventType {
  return Object.hasOwn(EVENTS, name);
}

const DELTAS: ReadonlySet<string> = new Set(
  Object.keys(EVENTS).filter((name) => isEventType(name) && persistenceOf(name) === "coalesced"),
);

/** Reports whether an event carries a piece of streamed text. */
export function isDelta(event: EventBody): event is DeltaBody {
  return DELTAS.has(event.type);
}

/** The thread an event belongs to, if any. */
export function threadIdOf(event: EventBody): string | undefined {
  if (event.type === "thread/started") return event.data.thread.id;
  return event.data.threadId;
}

/** An event of the log; undefined if another version of Flint wrote it, and this one does not know it. */
export function readLoggedEvent({
  seq,
  at,
  type,
  data,
}: z.output<typeof LoggedEvent>): StoredEvent | undefined {
  if (!isEventType(type)) return undefined;
  const parsed = EVENTS[type].data.safeParse(data);
  if (!parsed.success) return undefined;
  const event = { seq, at, type, data: parsed.data };
  // The schema of this very name accepted the data; the union cannot follow that.
  return event as StoredEvent;
}
