import * as z from "zod/mini";
import { Action } from "./approval/action.ts";
import { ResolvedBy } from "./approval/approval.ts";
import { Decision } from "./approval/policy.ts";
import { METHODS } from "./methods.ts";
import { UserInput } from "./thread/input.ts";
import { TurnError } from "./thread/thread.ts";
import { Id } from "./wire/ids.ts";
import { looseObject } from "./wire/loose-object.ts";
import { defineVocabulary, SERVER_CODES, STANDARD_CODES } from "./wire/vocabulary.ts";

/** The version of this protocol. */
export const HARNESS_VERSION = "1.0.0";

/** The answer of a client to an approval: this time, from now on, or no. */
export const HarnessDecision = z.enum(["once", "always", "reject"]);
export type HarnessDecision = z.output<typeof HarnessDecision>;

const ofTurn = { threadId: Id, turnId: Id };
const toolItemId = z.string();

/** Every item type of this wire and its `data`; a tool's own fields are beside the named ones. */
export const HARNESS_ITEMS = {
  user_message: {
    doc: "A message of the user: `text` is all of it as text, `content` its parts, including files.",
    data: looseObject(() => ({ text: z.string(), content: z.array(UserInput) })),
  },
  assistant_message: {
    doc: "A message (`text`) or the reasoning of the model (`reasoning`, and `summary` if it has one).",
    data: looseObject(() => ({
      text: z.optional(z.string()),
      reasoning: z.optional(z.string()),
      summary: z.optional(z.string()),
    })),
  },
  tool_exec: {
    doc: "A tool call. `kind` is the item type in the Flint protocol; the tool's own fields are beside it.",
    data: z.looseObject({ tool: z.string(), kind: z.string(), logItemId: z.optional(z.string()) }),
  },
  tool_log: {
    doc: "The output of the command `toolItemId`; the command's tool_exec does not repeat it.",
    data: looseObject(() => ({ toolItemId, output: z.string(), omittedOutputBytes: z.optional(z.number()) })),
  },
  approval: {
    doc: "An approval request, with its answer once completed. The item id is the request id.",
    data: looseObject(() => ({
      requestId: z.string(),
      toolItemId,
      action: z.optional(Action),
      decision: z.optional(HarnessDecision),
      by: z.optional(ResolvedBy),
      resolution: z.optional(Decision),
    })),
  },
  artifact: {
    doc: "A file that the tool `toolItemId` produced or changed; the diff is with the tool.",
    data: looseObject(() => ({ toolItemId, path: z.string(), change: z.enum(["add", "modify"]) })),
  },
} as const;

/** The name of an item type of this wire. */
export type HarnessItemType = keyof typeof HARNESS_ITEMS;
/** The `data` of an item of this type. */
export type HarnessData<Type extends HarnessItemType> = z.output<(typeof HARNESS_ITEMS)[Type]["data"]>;

// Object.keys forgets the names it gives; an object of ours has at least one.
const ItemTypeName = z.enum(Object.keys(HARNESS_ITEMS) as [HarnessItemType, ...HarnessItemType[]]);

/** A conversation. Times are unix milliseconds, here and everywhere on this wire. */
export const HarnessThread = looseObject(() => ({
  threadId: Id,
  title: z.string(),
  directory: z.string(),
  time: looseObject({ created: z.number(), updated: z.number() }),
}));
export type HarnessThread = z.output<typeof HarnessThread>;

/** One prompt and the work on it. */
export const HarnessTurn = looseObject(() => ({
  turnId: Id,
  threadId: Id,
  status: z.enum(["running", "completed", "cancelled", "error"]),
  time: looseObject({ started: z.number(), completed: z.optional(z.number()) }),
}));
export type HarnessTurn = z.output<typeof HarnessTurn>;

/** An item of a turn. */
export const HarnessItem = looseObject(() => ({
  itemId: z.string(),
  ...ofTurn,
  type: ItemTypeName,
  data: z.optional(z.record(z.string(), z.unknown())),
}));
export type HarnessItem = z.output<typeof HarnessItem>;

/** A past notification: its name and time, with its params beside them. */
export const HarnessEvent = looseObject(() => ({ type: z.string(), time: z.number() }));
export type HarnessEvent = z.output<typeof HarnessEvent>;

/** An action that the agent asks to take; the exact command, diff or tool call is in `action`. */
export const HarnessApprovalRequest = looseObject(() => ({
  requestId: z.string(),
  ...ofTurn,
  itemId: z.string(),
  action: Action,
  expiresAt: z.number(),
}));
export type HarnessApprovalRequest = z.output<typeof HarnessApprovalRequest>;

/** A command that the agent left running. */
export const HarnessBackgroundCommand = looseObject(() => ({
  processId: z.string(),
  command: z.string(),
  directory: z.optional(z.string()),
  itemId: z.optional(z.string()),
}));
export type HarnessBackgroundCommand = z.output<typeof HarnessBackgroundCommand>;

const ofItem = looseObject(() => ({ item: HarnessItem }));
const Done = looseObject(() => ({ ok: z.literal(true) }));
const startThread = METHODS["thread/start"].params.shape;
const startTurn = METHODS["turn/start"].params.shape;

/** The first slash separates provider and model, so a provider's name cannot contain one. */
const ModelName = looseObject(() => ({
  providerID: z.string().check(z.regex(/^[^/]+$/, "must be a name without '/'")),
  modelID: z.string().check(z.minLength(1)),
}));

/** The harness protocol: dotted names, approvals sent as notifications and answered by requests. */
export const HARNESS = defineVocabulary({
  name: "harness",
  header: true,
  requests: {
    initialize: {
      doc: "Returns the capabilities of this server. May be sent at any time, and is not required.",
      params: z._default(
        looseObject(() => ({
          clientInfo: z.optional(looseObject({ name: z.string(), version: z.optional(z.string()) })),
        })),
        {},
      ),
      result: looseObject(() => ({
        version: z.string(),
        capabilities: looseObject({
          threads: z.boolean(),
          turns: z.boolean(),
          approvals: z.boolean(),
          streaming: z.boolean(),
          persistence: z.boolean(),
        }),
      })),
    },
    "thread.create": {
      doc: "Creates a thread and subscribes to it.",
      params: z._default(
        looseObject(() => ({ title: startThread.name, directory: startThread.cwd })),
        {},
      ),
      result: looseObject(() => ({ thread: HarnessThread })),
    },
    "thread.list": {
      doc: "Lists the threads, newest first. `nextCursor` is set if there are more.",
      params: z._default(
        looseObject(() => ({ cursor: z.optional(z.string()) })),
        {},
      ),
      result: looseObject(() => ({ threads: z.array(HarnessThread), nextCursor: z.optional(z.string()) })),
    },
    "thread.get": {
      doc: "Returns a thread and all its past notifications in order, and subscribes to it.",
      params: looseObject(() => ({ threadId: Id })),
      result: looseObject(() => ({ thread: HarnessThread, events: z.array(HarnessEvent) })),
    },
    "turn.start": {
      doc: "Prompts the agent. Answers at once; notifications report the work.",
      params: looseObject(() => ({
        threadId: Id,
        input: startTurn.input,
        model: z.optional(ModelName),
        agent: z.optional(z.string().check(z.maxLength(200))),
      })),
      result: looseObject(() => ({ turnId: Id })),
    },
    "turn.cancel": {
      doc: "Cancels the running turn of a thread.",
      params: looseObject(() => ({ threadId: Id })),
      result: Done,
    },
    "approval.respond": {
      doc: "Answers an approval. The first answer counts.",
      params: looseObject(() => ({ requestId: z.string(), decision: HarnessDecision })),
      result: Done,
    },
    "background.list": {
      doc: "Lists the commands that the agent of a thread left running in the background.",
      params: looseObject(() => ({ threadId: Id })),
      result: looseObject(() => ({ commands: z.array(HarnessBackgroundCommand) })),
    },
    "background.stop": {
      doc: "Stops a background command, or all of a thread if no `processId` is given. `stopped` has the ids of those that were running.",
      params: looseObject(() => ({ threadId: Id, processId: z.optional(Id) })),
      result: looseObject(() => ({ stopped: z.array(z.string()) })),
    },
  },
  notifications: {},
  serverRequests: {},
  serverNotifications: {
    "thread.created": {
      doc: "A thread was created.",
      params: looseObject(() => ({ thread: HarnessThread })),
    },
    "turn.started": { doc: "A turn started.", params: looseObject(() => ({ turn: HarnessTurn })) },
    "turn.completed": {
      doc: "A turn completed or was cancelled; see its status.",
      params: looseObject(() => ({ turn: HarnessTurn })),
    },
    "turn.error": {
      doc: "A turn failed.",
      params: looseObject(() => ({ turn: HarnessTurn, error: TurnError })),
    },
    "item.started": { doc: "An item started.", params: ofItem },
    "item.delta": {
      doc: "More text of an item: `delta` extends `field` of its data at `offset`.",
      params: looseObject(() => ({
        itemId: z.string(),
        ...ofTurn,
        itemType: ItemTypeName,
        field: z.string(),
        delta: z.string(),
        offset: z.optional(z.number()),
      })),
    },
    "item.completed": { doc: "An item completed; this state is authoritative.", params: ofItem },
    "approval.requested": {
      doc: "The agent asks for approval; answer with `approval.respond`.",
      params: HarnessApprovalRequest,
    },
  },
  errorCodes: {
    ...STANDARD_CODES,
    alreadyInitialized: STANDARD_CODES.invalidRequest,
    threadNotFound: -32001,
    turnInProgress: -32002,
    // On this wire, cancelling while nothing runs is an unknown turn.
    turnNotFound: -32003,
    notRunning: -32003,
    approvalNotFound: -32004,
    notInitialized: -32005,
    ...SERVER_CODES,
  },
});

/** The name of a notification of this wire. */
export type HarnessNotification = keyof (typeof HARNESS)["serverNotifications"];
/** The params of a notification. */
export type HarnessNotificationParams<Name extends HarnessNotification> = z.output<
  (typeof HARNESS)["serverNotifications"][Name]["params"]
>;
