import * as z from "zod/mini";
import { foreignObject, nullish } from "../wire/loose-object.ts";
import { request } from "../wire/vocabulary.ts";
import { CodexCommandAction } from "./items.ts";

const ofTurn = { threadId: z.string(), turnId: z.string() };
const ofItem = { ...ofTurn, itemId: z.string() };

/**
 * The possible answers to a request to run a command. Both objects change the rules of Codex itself, for all
 * its threads.
 */
export const CodexCommandDecision = z.union([
  z.enum(["accept", "acceptForSession", "decline", "cancel"]),
  foreignObject({
    acceptWithExecpolicyAmendment: foreignObject({ execpolicy_amendment: z.array(z.string()) }),
  }),
  foreignObject({ applyNetworkPolicyAmendment: foreignObject({ network_policy_amendment: z.unknown() }) }),
]);
export type CodexCommandDecision = z.output<typeof CodexCommandDecision>;

/** The possible answers to a request to change files. */
export const CodexFileDecision = z.enum(["accept", "acceptForSession", "decline", "cancel"]);
export type CodexFileDecision = z.output<typeof CodexFileDecision>;

/** The possible answers to the older approval requests. Older versions write a plain `denied`. */
export const CodexReviewDecision = z.union([
  z.enum(["approved", "approved_for_session", "denied", "timed_out", "abort"]),
  foreignObject({
    approved_execpolicy_amendment: foreignObject({ proposed_execpolicy_amendment: z.array(z.string()) }),
  }),
  foreignObject({ denied: foreignObject({ rejection: z.string() }) }),
]);
export type CodexReviewDecision = z.output<typeof CodexReviewDecision>;

/** One question to the user. */
export const CodexQuestion = foreignObject({
  id: z.string(),
  header: z.string(),
  question: z.string(),
  isOther: z.optional(z.boolean()),
  isSecret: z.optional(z.boolean()),
  options: nullish(z.array(foreignObject({ label: z.string(), description: z.string() }))),
});

const LegacyFileChange = foreignObject({
  type: z.string(),
  content: z.optional(z.string()),
  unified_diff: z.optional(z.string()),
  move_path: nullish(z.string()),
});

/** Every request of Codex that Flint understands; any other one is answered with an error. */
export const CODEX_SERVER_REQUESTS = {
  "item/commandExecution/requestApproval": request(
    "Asks whether a command may run; without a command, whether a host may be reached.",
    () =>
      foreignObject({
        ...ofItem,
        kind: z.optional(z.string()),
        startedAtMs: z.optional(z.number()),
        approvalId: nullish(z.string()),
        environmentId: nullish(z.string()),
        reason: nullish(z.string()),
        command: nullish(z.string()),
        cwd: nullish(z.string()),
        networkApprovalContext: nullish(foreignObject({ host: z.string(), protocol: z.string() })),
        commandActions: nullish(z.array(CodexCommandAction)),
        additionalPermissions: z.optional(z.unknown()),
        proposedNetworkPolicyAmendments: z.optional(z.unknown()),
        proposedExecpolicyAmendment: nullish(z.array(z.string())),
        availableDecisions: nullish(z.array(CodexCommandDecision)),
      }),
    () => foreignObject({ decision: CodexCommandDecision }),
  ),
  "item/fileChange/requestApproval": request(
    "Asks whether files may be changed. The changes are in the item.",
    () =>
      foreignObject({
        ...ofItem,
        startedAtMs: z.optional(z.number()),
        reason: nullish(z.string()),
        grantRoot: nullish(z.string()),
      }),
    () => foreignObject({ decision: CodexFileDecision }),
  ),
  "item/permissions/requestApproval": request(
    "Asks for permissions beyond the sandbox. The answer lists what is granted instead of a decision.",
    () =>
      foreignObject({ ...ofItem, cwd: z.string(), reason: nullish(z.string()), permissions: z.unknown() }),
    () => foreignObject({ permissions: z.unknown(), scope: z.enum(["turn", "session"]) }),
  ),
  "item/tool/requestUserInput": request(
    "Asks the user something.",
    () =>
      foreignObject({
        ...ofItem,
        questions: z.array(CodexQuestion),
        isBlocking: z.optional(z.boolean()),
        autoResolutionMs: nullish(z.number()),
      }),
    () => foreignObject({ answers: z.record(z.string(), foreignObject({ answers: z.array(z.string()) })) }),
  ),
  "mcpServer/elicitation/request": request(
    "An elicitation of an MCP server, or the approval of a call of its tool.",
    () =>
      foreignObject({
        threadId: z.string(),
        turnId: nullish(z.string()),
        serverName: z.string(),
        mode: z.string(),
        message: z.optional(z.string()),
        requestedSchema: z.optional(z.unknown()),
        url: z.optional(z.string()),
        _meta: z.optional(z.unknown()),
      }),
    () =>
      foreignObject({
        action: z.enum(["accept", "decline", "cancel"]),
        content: z.optional(z.unknown()),
        _meta: z.optional(z.unknown()),
      }),
  ),
  "item/tool/call": request(
    "Calls a tool that the client offered.",
    () =>
      foreignObject({
        ...ofTurn,
        callId: z.string(),
        namespace: nullish(z.string()),
        tool: z.string(),
        arguments: z.optional(z.unknown()),
      }),
    () => foreignObject({ contentItems: z.array(z.unknown()), success: z.boolean() }),
  ),
  execCommandApproval: request(
    "The older form of asking whether a command may run.",
    () =>
      foreignObject({
        conversationId: z.string(),
        callId: z.string(),
        command: z.array(z.string()),
        cwd: z.string(),
        reason: nullish(z.string()),
      }),
    () => foreignObject({ decision: CodexReviewDecision }),
  ),
  applyPatchApproval: request(
    "The older form of asking whether files may be changed.",
    () =>
      foreignObject({
        conversationId: z.string(),
        callId: z.string(),
        fileChanges: z.record(z.string(), LegacyFileChange),
        reason: nullish(z.string()),
        grantRoot: nullish(z.string()),
      }),
    () => foreignObject({ decision: CodexReviewDecision }),
  ),
} as const;

/** Requests that Codex does not have any more, and that one of an earlier version still sends. They name no thread. */
const FORMER_REQUESTS = {
  "skill/requestApproval": request(
    "May this skill be used?",
    () => foreignObject({ threadId: nullish(z.string()), itemId: z.string(), skillName: z.string() }),
    () => foreignObject({ decision: z.enum(["approve", "decline"]) }),
  ),
} as const;

const ALL_REQUESTS = { ...CODEX_SERVER_REQUESTS, ...FORMER_REQUESTS } as const;

/** The name of a request of Codex. */
export type CodexServerRequest = keyof typeof ALL_REQUESTS;
/** Params of a request that Codex sends. */
export type CodexServerParams<Name extends CodexServerRequest> = z.output<
  (typeof ALL_REQUESTS)[Name]["params"]
>;
/** The answer to a request that Codex sends. */
export type CodexServerResult<Name extends CodexServerRequest> = z.input<
  (typeof ALL_REQUESTS)[Name]["result"]
>;

/** A request of Codex, read. */
export type CodexServerCall = {
  [Name in CodexServerRequest]: { readonly method: Name; readonly params: CodexServerParams<Name> };
}[CodexServerRequest];

/** Reads a request of Codex; undefined if it is unknown, or its shape is not the one we know. */
export function readCodexServerCall(method: string, params: unknown): CodexServerCall | undefined {
  if (!Object.hasOwn(ALL_REQUESTS, method)) return undefined;
  // The table was just found to have this name.
  const known = method as CodexServerRequest;
  const read = ALL_REQUESTS[known].params.safeParse(params);
  if (!read.success) return undefined;
  const call: unknown = { method: known, params: read.data };
  // Name and params come from the same row of the table.
  return call as CodexServerCall;
}
