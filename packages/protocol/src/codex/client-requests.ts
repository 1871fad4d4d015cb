import * as z from "zod/mini";
import { foreignObject, nullish, request } from "../wire/foreign-wire.ts";
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
  sortDirection: nullish(SortDirection),
  itemsView: nullish(z.enum(["notLoaded", "summary", "full"])),
};
const backwards = { turnsBackwardsCursor: nullish(z.string()), itemsBackwardsCursor: nullish(z.string()) };
const goalFields = { objective: nullish(z.string()), tokenBudget: nullish(z.number()) };

/** Requests that only clients of Codex send: reading and keeping threads. */
const THREADS = {
  "thread/read": request(
    "Reads a thread without following it.",
    () => foreignObject({ ...ofThread, includeTurns: z.optional(z.boolean()) }),
    () => foreignObject({ thread: CodexThread, readState: z.optional(z.unknown()) }),
  ),
  "thread/list": request(
    "The threads there are.",
    () =>
      foreignObject({
        ...page,
        sortKey: nullish(z.enum(["created_at", "updated_at", "recency_at", "section_position"])),
        sortDirection: nullish(SortDirection),
        archived: nullish(z.boolean()),
        searchTerm: nullish(z.string()),
        cwd: nullish(z.union([z.string(), z.array(z.string())])),
        excludedThreadIds: nullish(z.array(z.string())),
        modelProviders: nullish(z.array(z.string())),
        sectionId: nullish(z.string()),
        projectId: nullish(z.string()),
        parentThreadId: nullish(z.string()),
        ancestorThreadId: nullish(z.string()),
        attachedToThreadId: nullish(z.string()),
      }),
    () => foreignObject({ data: z.array(CodexThread), readStates: z.optional(z.unknown()), ...cursors }),
  ),
  "thread/loaded/list": request(
    "The threads that are in memory.",
    () => foreignObject(page),
    () => foreignObject({ data: z.array(z.string()), nextCursor: z.nullable(z.string()) }),
  ),
  "thread/turns/list": request(
    "The turns of a thread, the latest first unless told otherwise.",
    () => foreignObject({ ...ofThread, cursor: page.cursor, ...turnsOfPage }),
    () => foreignObject({ data: z.array(CodexTurn), ...cursors }),
  ),
  "thread/items/list": request(
    "The items of a thread or of one of its turns, the oldest first unless told otherwise.",
    () =>
      foreignObject({
        ...ofThread,
        ...page,
        cursor: z.optional(z.unknown()),
        turnId: nullish(z.string()),
        sortDirection: nullish(SortDirection),
      }),
    () => foreignObject({ data: z.array(z.unknown()), ...cursors }),
  ),
  "thread/archive": request("Puts a thread away.", () => foreignObject(ofThread), nothing),
  "thread/unarchive": request(
    "Takes a thread out of the archive.",
    () => foreignObject(ofThread),
    () => foreignObject({ thread: CodexThread }),
  ),
  "thread/delete": request("Deletes a thread for good.", () => foreignObject(ofThread), nothing),
  "thread/name/set": request(
    "Names a thread.",
    () => foreignObject({ ...ofThread, name: z.string() }),
    nothing,
  ),
  "thread/revert": request(
    "Goes back to the moment before a turn.",
    () => foreignObject({ ...ofThread, beforeTurnId: z.string() }),
    () => foreignObject({ thread: CodexThread, ...backwards }),
  ),
  "thread/rollback": request(
    "Drops the last turns. Gone from Codex since 0.166.0; kept for clients that call it.",
    () => foreignObject({ ...ofThread, numTurns: z.number() }),
    () => foreignObject({ thread: CodexThread }),
  ),
  "thread/shellCommand": request(
    "Runs a command of the user's own.",
    () => foreignObject({ ...ofThread, command: z.string(), timeoutMs: nullish(z.number()) }),
    nothing,
  ),
  "thread/backgroundTerminals/list": request(
    "The commands that a thread left running.",
    () => foreignObject({ ...ofThread, ...page }),
    () => foreignObject({ data: z.array(z.unknown()), nextCursor: z.nullable(z.string()) }),
  ),
} as const;

/** What a thread is for, and what waits in it. */
const GOALS_AND_QUEUES = {
  "thread/goal/get": request(
    "What a thread is for.",
    () => foreignObject(ofThread),
    () => foreignObject({ goal: z.nullable(CodexGoal) }),
  ),
  "thread/goal/set": request(
    "Says what a thread is for, or how far that is.",
    () => foreignObject({ ...ofThread, ...goalFields, status: nullish(CodexGoal.shape.status) }),
    () => foreignObject({ goal: CodexGoal }),
  ),
  "thread/goal/clear": request(
    "Takes the goal of a thread away.",
    () => foreignObject(ofThread),
    () => foreignObject({ cleared: z.boolean() }),
  ),
  "thread/queue/add": request(
    "Lets an input wait for the running turn to end.",
    () => foreignObject({ ...ofThread, input: z.array(CodexUserInput), clientUserMessageId: z.string() }),
    () => foreignObject({ queuedSubmission: CodexQueuedSubmission }),
  ),
  "thread/queue/list": request(
    "The inputs that wait.",
    () => foreignObject({ ...ofThread, ...page }),
    () => foreignObject({ data: z.array(CodexQueuedSubmission), nextCursor: z.nullable(z.string()) }),
  ),
  "thread/queue/update": request(
    "Changes an input that waits.",
    () => foreignObject({ ...ofThread, queuedSubmissionId: z.string(), input: z.array(CodexUserInput) }),
    () => foreignObject({ queuedSubmission: CodexQueuedSubmission }),
  ),
  "thread/queue/delete": request(
    "Takes an input out of the queue.",
    () => foreignObject({ ...ofThread, queuedSubmissionId: z.string() }),
    () => foreignObject({ deleted: z.boolean() }),
  ),
  "thread/queue/reorder": request(
    "Puts the inputs that wait into this order.",
    () => foreignObject({ ...ofThread, queuedSubmissionIds: z.array(z.string()) }),
    nothing,
  ),
  "thread/queue/start": request(
    "Gives an input that waits to the agent now.",
    () => foreignObject({ ...ofThread, queuedSubmissionId: nullish(z.string()) }),
    () => foreignObject({ turn: CodexTurn }),
  ),
} as const;

type Row<Params extends z.ZodMiniType, Result extends z.ZodMiniType> = {
  readonly doc: string;
  readonly params: Params;
  readonly result: Result;
};

/** A request that Flint's driver sends too, with the further fields that other clients send. */
function further<Known extends z.core.$ZodShape, More extends z.core.$ZodShape, Result extends z.ZodMiniType>(
  row: Row<z.ZodMiniObject<Known>, Result>,
  more: More,
) {
  return request(
    row.doc,
    () => foreignObject({ ...row.params.shape, ...more }),
    () => row.result,
  );
}

const message = { clientUserMessageId: nullish(z.string()) };
const working = {
  sandboxPolicy: nullish(CodexSandboxPolicyInput),
  collaborationMode: nullish(CodexCollaborationModeInput),
};

/** Requests of which clients make more use than Flint does. */
const OPENINGS = {
  "thread/start": further(CODEX_REQUESTS["thread/start"], { threadSource: nullish(z.string()) }),
  "thread/resume": further(CODEX_REQUESTS["thread/resume"], {
    initialTurnsPage: nullish(foreignObject(turnsOfPage)),
  }),
  "thread/fork": further(CODEX_REQUESTS["thread/fork"], {
    ephemeral: nullish(z.boolean()),
    excludeTurns: z.optional(z.boolean()),
  }),
  "thread/settings/update": further(CODEX_REQUESTS["thread/settings/update"], working),
  "turn/start": further(CODEX_REQUESTS["turn/start"], { ...message, ...working }),
  "turn/steer": further(CODEX_REQUESTS["turn/steer"], message),
  // Codex has only the first since 0.166.0; Flint still has both.
  "review/start": further(CODEX_REQUESTS["review/start"], {
    delivery: nullish(z.enum(["inline", "detached"])),
  }),
} as const;

/** Every request of a Codex client that the Codex front end takes. */
export const CODEX_CLIENT_REQUESTS = {
  ...CODEX_REQUESTS,
  ...OPENINGS,
  ...THREADS,
  ...GOALS_AND_QUEUES,
  ...CODEX_HOST_REQUESTS,
} as const;

/** The name of a request of a Codex client. */
export type CodexClientRequest = keyof typeof CODEX_CLIENT_REQUESTS;
/** What a client sent with it, after validation. */
export type CodexClientParams<Name extends CodexClientRequest> = z.output<
  (typeof CODEX_CLIENT_REQUESTS)[Name]["params"]
>;
/** What it is answered with. */
export type CodexClientResult<Name extends CodexClientRequest> = z.input<
  (typeof CODEX_CLIENT_REQUESTS)[Name]["result"]
>;

/** Whether a name from a wire is a request of a Codex client that the front end takes. */
export function isCodexClientRequest(name: string): name is CodexClientRequest {
  return Object.hasOwn(CODEX_CLIENT_REQUESTS, name);
}
