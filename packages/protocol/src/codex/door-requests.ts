import * as z from "zod/mini";
import { loose, maybe, request } from "../shape.ts";
import { CODEX_HOST_REQUESTS } from "./host-requests.ts";
import { CODEX_REQUESTS, nothing, ofThread, page } from "./requests.ts";
import {
  CodexCollaborationModeInput,
  CodexGoal,
  CodexQueuedSubmission,
  CodexSandboxPolicyInput,
  CodexThread,
  CodexTurn,
  CodexUserInput,
} from "./values.ts";

const SortDirection = z.enum(["asc", "desc"]);
const cursors = { nextCursor: z.nullable(z.string()), backwardsCursor: z.nullable(z.string()) };
const turnsOfPage = {
  limit: page.limit,
  sortDirection: maybe(SortDirection),
  itemsView: maybe(z.enum(["notLoaded", "summary", "full"])),
};
const backwards = { turnsBackwardsCursor: maybe(z.string()), itemsBackwardsCursor: maybe(z.string()) };
const goalFields = { objective: maybe(z.string()), tokenBudget: maybe(z.number()) };

/** Requests that only clients of Codex send: reading and keeping threads. */
const THREADS = {
  "thread/read": request(
    "Reads a thread without following it.",
    () => loose({ ...ofThread, includeTurns: z.optional(z.boolean()) }),
    () => loose({ thread: CodexThread, readState: z.optional(z.unknown()) }),
  ),
  "thread/list": request(
    "The threads there are.",
    () =>
      loose({
        ...page,
        sortKey: maybe(z.enum(["created_at", "updated_at", "recency_at", "section_position"])),
        sortDirection: maybe(SortDirection),
        archived: maybe(z.boolean()),
        searchTerm: maybe(z.string()),
        cwd: maybe(z.union([z.string(), z.array(z.string())])),
        excludedThreadIds: maybe(z.array(z.string())),
        modelProviders: maybe(z.array(z.string())),
        sectionId: maybe(z.string()),
        projectId: maybe(z.string()),
        parentThreadId: maybe(z.string()),
        ancestorThreadId: maybe(z.string()),
        attachedToThreadId: maybe(z.string()),
      }),
    () => loose({ data: z.array(CodexThread), readStates: z.optional(z.unknown()), ...cursors }),
  ),
  "thread/loaded/list": request(
    "The threads that are in memory.",
    () => loose(page),
    () => loose({ data: z.array(z.string()), nextCursor: z.nullable(z.string()) }),
  ),
  "thread/turns/list": request(
    "The turns of a thread, the latest first unless told otherwise.",
    () => loose({ ...ofThread, cursor: page.cursor, ...turnsOfPage }),
    () => loose({ data: z.array(CodexTurn), ...cursors }),
  ),
  "thread/items/list": request(
    "The items of a thread or of one of its turns, the oldest first unless told otherwise.",
    () =>
      loose({
        ...ofThread,
        ...page,
        cursor: z.optional(z.unknown()),
        turnId: maybe(z.string()),
        sortDirection: maybe(SortDirection),
      }),
    () => loose({ data: z.array(z.unknown()), ...cursors }),
  ),
  "thread/archive": request("Puts a thread away.", () => loose(ofThread), nothing),
  "thread/unarchive": request(
    "Takes a thread out of the archive.",
    () => loose(ofThread),
    () => loose({ thread: CodexThread }),
  ),
  "thread/delete": request("Deletes a thread for good.", () => loose(ofThread), nothing),
  "thread/name/set": request("Names a thread.", () => loose({ ...ofThread, name: z.string() }), nothing),
  "thread/revert": request(
    "Goes back to the moment before a turn.",
    () => loose({ ...ofThread, beforeTurnId: z.string() }),
    () => loose({ thread: CodexThread, ...backwards }),
  ),
  "thread/rollback": request(
    "Drops the last turns. Gone from Codex since 0.166.0; kept for clients that call it.",
    () => loose({ ...ofThread, numTurns: z.number() }),
    () => loose({ thread: CodexThread }),
  ),
  "thread/shellCommand": request(
    "Runs a command of the user's own.",
    () => loose({ ...ofThread, command: z.string(), timeoutMs: maybe(z.number()) }),
    nothing,
  ),
  "thread/backgroundTerminals/list": request(
    "The commands that a thread left running.",
    () => loose({ ...ofThread, ...page }),
    () => loose({ data: z.array(z.unknown()), nextCursor: z.nullable(z.string()) }),
  ),
} as const;

/** What a thread is for, and what waits in it. */
const GOALS_AND_QUEUES = {
  "thread/goal/get": request(
    "What a thread is for.",
    () => loose(ofThread),
    () => loose({ goal: z.nullable(CodexGoal) }),
  ),
  "thread/goal/set": request(
    "Says what a thread is for, or how far that is.",
    () => loose({ ...ofThread, ...goalFields, status: maybe(CodexGoal.shape.status) }),
    () => loose({ goal: CodexGoal }),
  ),
  "thread/goal/clear": request(
    "Takes the goal of a thread away.",
    () => loose(ofThread),
    () => loose({ cleared: z.boolean() }),
  ),
  "thread/queue/add": request(
    "Lets an input wait for the running turn to end.",
    () => loose({ ...ofThread, input: z.array(CodexUserInput), clientUserMessageId: z.string() }),
    () => loose({ queuedSubmission: CodexQueuedSubmission }),
  ),
  "thread/queue/list": request(
    "The inputs that wait.",
    () => loose({ ...ofThread, ...page }),
    () => loose({ data: z.array(CodexQueuedSubmission), nextCursor: z.nullable(z.string()) }),
  ),
  "thread/queue/update": request(
    "Changes an input that waits.",
    () => loose({ ...ofThread, queuedSubmissionId: z.string(), input: z.array(CodexUserInput) }),
    () => loose({ queuedSubmission: CodexQueuedSubmission }),
  ),
  "thread/queue/delete": request(
    "Takes an input out of the queue.",
    () => loose({ ...ofThread, queuedSubmissionId: z.string() }),
    () => loose({ deleted: z.boolean() }),
  ),
  "thread/queue/reorder": request(
    "Puts the inputs that wait into this order.",
    () => loose({ ...ofThread, queuedSubmissionIds: z.array(z.string()) }),
    nothing,
  ),
  "thread/queue/start": request(
    "Gives an input that waits to the agent now.",
    () => loose({ ...ofThread, queuedSubmissionId: maybe(z.string()) }),
    () => loose({ turn: CodexTurn }),
  ),
} as const;

type Row<Params extends z.ZodMiniType, Result extends z.ZodMiniType> = {
  readonly doc: string;
  readonly params: Params;
  readonly result: Result;
};

/** A request that Flint sends too, with what clients of the door may send beside. */
function further<Known extends z.core.$ZodShape, More extends z.core.$ZodShape, Result extends z.ZodMiniType>(
  row: Row<z.ZodMiniObject<Known>, Result>,
  more: More,
) {
  return request(
    row.doc,
    () => loose({ ...row.params.shape, ...more }),
    () => row.result,
  );
}

const message = { clientUserMessageId: maybe(z.string()) };
const working = {
  sandboxPolicy: maybe(CodexSandboxPolicyInput),
  collaborationMode: maybe(CodexCollaborationModeInput),
};

/** Requests of which clients make more use than Flint does. */
const OPENINGS = {
  "thread/start": further(CODEX_REQUESTS["thread/start"], { threadSource: maybe(z.string()) }),
  "thread/resume": further(CODEX_REQUESTS["thread/resume"], { initialTurnsPage: maybe(loose(turnsOfPage)) }),
  "thread/fork": further(CODEX_REQUESTS["thread/fork"], {
    ephemeral: maybe(z.boolean()),
    excludeTurns: z.optional(z.boolean()),
  }),
  "thread/settings/update": further(CODEX_REQUESTS["thread/settings/update"], working),
  "turn/start": further(CODEX_REQUESTS["turn/start"], { ...message, ...working }),
  "turn/steer": further(CODEX_REQUESTS["turn/steer"], message),
  // Codex has only the first since 0.166.0; Flint still has both.
  "review/start": further(CODEX_REQUESTS["review/start"], {
    delivery: maybe(z.enum(["inline", "detached"])),
  }),
} as const;

/** Every request that the Codex door takes. */
export const CODEX_DOOR_REQUESTS = {
  ...CODEX_REQUESTS,
  ...OPENINGS,
  ...THREADS,
  ...GOALS_AND_QUEUES,
  ...CODEX_HOST_REQUESTS,
} as const;

/** The name of a request that the Codex door takes. */
export type CodexDoorRequest = keyof typeof CODEX_DOOR_REQUESTS;
/** What a client sent with it, after validation. */
export type CodexDoorParams<Name extends CodexDoorRequest> = z.output<
  (typeof CODEX_DOOR_REQUESTS)[Name]["params"]
>;
/** What it is answered with. */
export type CodexDoorResult<Name extends CodexDoorRequest> = z.input<
  (typeof CODEX_DOOR_REQUESTS)[Name]["result"]
>;

/** Whether a name from a wire is a request that the Codex door takes. */
export function isCodexDoorRequest(name: string): name is CodexDoorRequest {
  return Object.hasOwn(CODEX_DOOR_REQUESTS, name);
}
