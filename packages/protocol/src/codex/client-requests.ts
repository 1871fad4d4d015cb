import * as z from "zod/mini";
import { foreignObject, nullish } from "../wire/loose-object.ts";
import { request } from "../wire/vocabulary.ts";
import { CODEX_HOST_REQUESTS } from "./host-requests.ts";
import { CodexCollaborationModeInput, CodexSandboxPolicyInput } from "./policies.ts";
import { CODEX_REQUESTS, nothing, ofThread, page } from "./requests.ts";
import { CodexGoal, CodexQueuedSubmission, CodexThread, CodexTurn, CodexUserInput } from "./values.ts";

const SortDirection = z.enum(["asc", "desc"]);
const cursors = { nextCursor: z.nullable(z.string()), backwardsCursor: z.nullable(z.string()) };
const turnsOfPage = {
  limit: page.limit,
  sortDirection: nullish(SortDirection),
  itemsView: nullish(z.enum(["notLoaded", "summary", "full"])),
};
const backwards = { turnsBackwardsCursor: nullish(z.string()), itemsBackwardsCursor: nullish(z.string()) };
const goalFields = { objective: nullish(z.string()), tokenBudget: nullish(z.number()) };

/** Requests that only other clients send: reading and managing threads. */
const THREADS = {
  "thread/read": request(
    "Reads a thread without subscribing to it.",
    () => foreignObject({ ...ofThread, includeTurns: z.optional(z.boolean()) }),
    () => foreignObject({ thread: CodexThread, readState: z.optional(z.unknown()) }),
  ),
  "thread/list": request(
    "Lists threads.",
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
    "Lists the threads in memory.",
    () => foreignObject(page),
    () => foreignObject({ data: z.array(z.string()), nextCursor: z.nullable(z.string()) }),
  ),
  "thread/turns/list": request(
    "Lists the turns of a thread, the latest first by default.",
    () => foreignObject({ ...ofThread, cursor: page.cursor, ...turnsOfPage }),
    () => foreignObject({ data: z.array(CodexTurn), ...cursors }),
  ),
  "thread/items/list": request(
    "Lists the items of a thread or of one of its turns, the oldest first by default.",
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
  "thread/archive": request("Archives a thread.", () => foreignObject(ofThread), nothing),
  "thread/unarchive": request(
    "Unarchives a thread.",
    () => foreignObject(ofThread),
    () => foreignObject({ thread: CodexThread }),
  ),
  "thread/delete": request("Deletes a thread permanently.", () => foreignObject(ofThread), nothing),
  "thread/name/set": request(
    "Names a thread.",
    () => foreignObject({ ...ofThread, name: z.string() }),
    nothing,
  ),
  "thread/revert": request(
    "Reverts a thread to the state before a turn.",
    () => foreignObject({ ...ofThread, beforeTurnId: z.string() }),
    () => foreignObject({ thread: CodexThread, ...backwards }),
  ),
  "thread/rollback": request(
    "Drops the last turns. Removed from Codex in 0.166.0; still served for clients that call it.",
    () => foreignObject({ ...ofThread, numTurns: z.number() }),
    () => foreignObject({ thread: CodexThread }),
  ),
  "thread/shellCommand": request(
    "Runs a shell command of the user.",
    () => foreignObject({ ...ofThread, command: z.string(), timeoutMs: nullish(z.number()) }),
    nothing,
  ),
  "thread/inject_items": request(
    "Adds raw items of the Responses API to the history of a thread.",
    () => foreignObject({ ...ofThread, items: z.array(z.unknown()) }),
    nothing,
  ),
} as const;

/** Goals and queued inputs. */
const GOALS_AND_QUEUES = {
  "thread/goal/get": request(
    "Reads the goal of a thread.",
    () => foreignObject(ofThread),
    () => foreignObject({ goal: z.nullable(CodexGoal) }),
  ),
  "thread/goal/set": request(
    "Sets the goal of a thread, or its status.",
    () => foreignObject({ ...ofThread, ...goalFields, status: nullish(CodexGoal.shape.status) }),
    () => foreignObject({ goal: CodexGoal }),
  ),
  "thread/goal/clear": request(
    "Clears the goal of a thread.",
    () => foreignObject(ofThread),
    () => foreignObject({ cleared: z.boolean() }),
  ),
  "thread/queue/add": request(
    "Queues an input for after the running turn.",
    () => foreignObject({ ...ofThread, input: z.array(CodexUserInput), clientUserMessageId: z.string() }),
    () => foreignObject({ queuedSubmission: CodexQueuedSubmission }),
  ),
  "thread/queue/list": request(
    "Lists the queued inputs.",
    () => foreignObject({ ...ofThread, ...page }),
    () => foreignObject({ data: z.array(CodexQueuedSubmission), nextCursor: z.nullable(z.string()) }),
  ),
  "thread/queue/update": request(
    "Changes a queued input.",
    () => foreignObject({ ...ofThread, queuedSubmissionId: z.string(), input: z.array(CodexUserInput) }),
    () => foreignObject({ queuedSubmission: CodexQueuedSubmission }),
  ),
  "thread/queue/delete": request(
    "Removes an input from the queue.",
    () => foreignObject({ ...ofThread, queuedSubmissionId: z.string() }),
    () => foreignObject({ deleted: z.boolean() }),
  ),
  "thread/queue/reorder": request(
    "Reorders the queued inputs.",
    () => foreignObject({ ...ofThread, queuedSubmissionIds: z.array(z.string()) }),
    nothing,
  ),
  "thread/queue/start": request(
    "Starts a queued input now.",
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

/** Requests with fields that Flint's driver does not send. */
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
  // Codex has only `inline` since 0.166.0; Flint has both.
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
/** The validated params of a client's request. */
export type CodexClientParams<Name extends CodexClientRequest> = z.output<
  (typeof CODEX_CLIENT_REQUESTS)[Name]["params"]
>;
/** The result of a client's request. */
export type CodexClientResult<Name extends CodexClientRequest> = z.input<
  (typeof CODEX_CLIENT_REQUESTS)[Name]["result"]
>;

/** Reports whether a name from a wire is a request of a Codex client that the front end takes. */
export function isCodexClientRequest(name: string): name is CodexClientRequest {
  return Object.hasOwn(CODEX_CLIENT_REQUESTS, name);
}

/** The requests that need the capability `experimentalApi`, as far as the front end takes them. */
export const CODEX_EXPERIMENTAL_REQUESTS: ReadonlySet<string> = new Set([
  "thread/settings/update",
  "thread/backgroundTerminals/list",
  "thread/backgroundTerminals/clean",
  "thread/backgroundTerminals/terminate",
  "thread/queue/add",
  "thread/queue/list",
  "thread/queue/update",
  "thread/queue/delete",
  "thread/queue/reorder",
  "thread/queue/start",
  "collaborationMode/list",
  "account/bedrock/checkGovCloudRequirements",
]);

/** The fields of other requests that need it too. */
export const CODEX_EXPERIMENTAL_FIELDS: Readonly<Record<string, readonly string[]>> = {
  "thread/start": [
    "allowProviderModelFallback",
    "daybreakEnabled",
    "dynamicTools",
    "environments",
    "experimentalRawEvents",
    "historyMode",
    "mockExperimentalField",
    "multiAgentMode",
    "permissions",
    "projectId",
    "runtimeWorkspaceRoots",
    "selectedCapabilityRoots",
  ],
  "thread/resume": ["history", "initialTurnsPage", "path", "permissions", "runtimeWorkspaceRoots"],
  "thread/fork": [
    "attachToSource",
    "beforeTurnId",
    "deferGoalContinuation",
    "experimentalDisablePredictionMcp",
    "experimentalPredictionMode",
    "path",
    "permissions",
    "runtimeWorkspaceRoots",
  ],
  "thread/list": ["ancestorThreadId", "attachedToThreadId", "parentThreadId", "projectId"],
  "turn/start": [
    "additionalContext",
    "collaborationMode",
    "cyberAccessProgram",
    "environments",
    "multiAgentMode",
    "permissions",
    "responsesapiClientMetadata",
    "responsesapiClientMetadataPatch",
    "runtimeWorkspaceRoots",
  ],
  "turn/steer": ["additionalContext", "responsesapiClientMetadata", "responsesapiClientMetadataPatch"],
  "command/exec": ["permissionProfile"],
};
