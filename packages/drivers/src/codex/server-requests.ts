import { answerElicitation } from "@flint/core/elicitation";
import {
  type Action,
  type Decision,
  isKnownItem,
  isUnconfined,
  type ThreadSettings,
  type ToolCallResult,
  type UserQuestion,
} from "@flint/protocol";
import type {
  CodexCommandDecision,
  CodexFileDecision,
  CodexReviewDecision,
  CodexServerCall,
  CodexServerParams,
  CodexServerResult,
} from "@flint/protocol/codex";
import { sandboxedChange } from "../shared/outside-changes.ts";
import {
  approveCommand,
  approveOlderCommand,
  approvePermissions,
  type RequestContext,
  reasonOf,
} from "./command-requests.ts";
import { fileChange, itemIdOf } from "./translate/items.ts";
import { changesOf, type TranslateState } from "./translate.ts";

type Params<Name extends CodexServerCall["method"]> = CodexServerParams<Name>;

/** Answers a request of Codex during a turn with the decision of the policy or of the user. */
export async function answerServerRequest(call: CodexServerCall, context: RequestContext): Promise<object> {
  switch (call.method) {
    case "item/commandExecution/requestApproval":
      return {
        decision: commandDecision(
          await approveCommand(call.params, context),
          proposedAmendment(call.params, context),
        ),
      };
    case "item/fileChange/requestApproval":
      return { decision: fileDecision(await approveFiles(call.params, context)) };
    case "item/permissions/requestApproval":
      return approvePermissions(call.params, context);
    case "item/tool/requestUserInput":
      return askUser(call.params, context);
    case "mcpServer/elicitation/request":
      return elicit(call.params, context);
    case "item/tool/call":
      return callTool(call.params, context);
    case "execCommandApproval":
      return {
        decision: reviewDecision(
          await approveOlderCommand(call.params, context),
          proposedAmendment(call.params, context),
        ),
      };
    case "applyPatchApproval":
      return { decision: reviewDecision(await approveOlderPatch(call.params, context)) };
    case "skill/requestApproval":
      return { decision: skillDecision(await approveSkill(call.params, context)) };
  }
}

async function approveFiles(
  { itemId, reason, grantRoot }: Params<"item/fileChange/requestApproval">,
  { turn, state }: RequestContext,
): Promise<Decision> {
  const changes = changesOf(state(), itemId);
  const action: Action = {
    ...{ kind: "fileChange", itemId: itemIdOf(itemId), changes },
    ...reasonOf(fileReason(reason, grantRoot, turn.settings)),
  };
  const change = await sandboxedChange(action, turn.settings);
  return turn.approve(change.action, change.guarantees);
}

/** Codex may ask for a whole folder with a change. Only the change is approved, because only that is shown. */
function fileReason(
  reason: string | null | undefined,
  grantRoot: string | null | undefined,
  { sandboxPolicy }: ThreadSettings,
): string {
  const isWider = typeof grantRoot === "string" && !isUnconfined(sandboxPolicy);
  const note = `(Codex asks to write ${grantRoot} for the session; only this change is allowed, as far as the sandbox can write there.)`;
  return [reason ?? "", isWider ? note : ""].filter((part) => part !== "").join(" ");
}

async function askUser(
  { itemId, questions }: Params<"item/tool/requestUserInput">,
  { turn }: RequestContext,
): Promise<CodexServerResult<"item/tool/requestUserInput">> {
  const asked = questions.map(
    ({ id, header, question, isSecret, options }): UserQuestion => ({
      id,
      header,
      question,
      ...(options === undefined || options === null ? {} : { options }),
      ...(isSecret === true ? { secret: true } : {}),
    }),
  );
  return { answers: await turn.ask(itemIdOf(itemId), asked) };
}

async function callTool(
  { callId, tool, namespace, arguments: given }: Params<"item/tool/call">,
  { turn }: RequestContext,
): Promise<CodexServerResult<"item/tool/call">> {
  const call = { itemId: itemIdOf(callId), tool, namespace: namespace ?? undefined, arguments: given };
  return dynamicToolResult(await turn.callTool(call));
}

/** Either a request to approve the call of an MCP tool, or an elicitation of the server itself. */
async function elicit(
  params: Params<"mcpServer/elicitation/request">,
  { turn, state }: RequestContext,
): Promise<CodexServerResult<"mcpServer/elicitation/request">> {
  const { serverName: server, message = "", _meta: meta } = params;
  const call = openCall(state(), server, Reflect.get(Object(meta), "tool_params"));
  if (Reflect.get(Object(meta), "codex_approval_kind") === "mcp_tool_call") {
    const given: unknown = Reflect.get(Object(meta), "tool_params") ?? {};
    const tool = call?.tool ?? /tool "([^"]+)"/.exec(message)?.[1] ?? "unknown";
    const itemId = call?.id ?? turn.turnId;
    const { outcome } = await turn.approve({ kind: "tool", itemId, tool, server, arguments: given });
    return TOOL_APPROVAL[outcome];
  }
  const itemId = call?.id ?? turn.turnId;
  const answer = await answerElicitation(`The MCP server ${server}`, params, (questions) =>
    turn.ask(itemId, questions),
  );
  return { content: null, ...answer, _meta: null };
}

const TOOL_APPROVAL = {
  allow: { action: "accept", content: {}, _meta: null },
  deny: { action: "decline", content: null, _meta: null },
  cancel: { action: "cancel", content: null, _meta: null },
} as const satisfies Record<string, CodexServerResult<"mcpServer/elicitation/request">>;

/** The running call of a server's tool, preferably the one with these arguments. */
function openCall(
  { open }: TranslateState,
  server: string,
  given: unknown,
): { readonly id: string; readonly tool: string } | undefined {
  const known = [...open.values()].filter(isKnownItem);
  const calls = known.flatMap((item) =>
    item.type === "mcpToolCall" && item.server === server ? [item] : [],
  );
  const expected = JSON.stringify(given ?? {});
  return calls.findLast((call) => JSON.stringify(call.arguments ?? {}) === expected) ?? calls.at(-1);
}

async function approveOlderPatch(
  { callId, fileChanges, reason, grantRoot }: Params<"applyPatchApproval">,
  { turn }: RequestContext,
): Promise<Decision> {
  const changes = Object.entries(fileChanges).map(
    ([path, { type, content, unified_diff: diff, move_path: moved }]) =>
      fileChange({ path, kind: { type, move_path: moved }, diff: diff ?? content ?? "" }, turn.settings.cwd),
  );
  const action: Action = {
    ...{ kind: "fileChange", itemId: itemIdOf(callId), changes },
    ...reasonOf(fileReason(reason, grantRoot, turn.settings)),
  };
  const change = await sandboxedChange(action, turn.settings);
  return turn.approve(change.action, change.guarantees);
}

function approveSkill(
  { itemId, skillName }: Params<"skill/requestApproval">,
  { turn }: RequestContext,
): Promise<Decision> {
  return turn.approve({
    kind: "tool",
    itemId: itemIdOf(itemId),
    tool: "skill",
    arguments: { skill: skillName },
  });
}

/** The execpolicy amendment that Codex proposes. In a sandbox it could not store one, and may not have one. */
function proposedAmendment(params: object, { turn }: RequestContext): readonly string[] | undefined {
  if (!isUnconfined(turn.settings.sandboxPolicy)) return undefined;
  const proposed: unknown =
    Reflect.get(params, "proposedExecpolicyAmendment") ??
    Reflect.get(params, "proposed_execpolicy_amendment");
  return Array.isArray(proposed) ? proposed.filter((word) => typeof word === "string") : undefined;
}

/** The result of a client-provided tool as Codex takes it. */
function dynamicToolResult({ success, content }: ToolCallResult): CodexServerResult<"item/tool/call"> {
  const contentItems = content.map((piece) =>
    piece.type === "text"
      ? { type: "inputText", text: piece.text }
      : { type: "inputImage", imageUrl: piece.url },
  );
  return { success, contentItems };
}

/** The metadata of a decision for always if Codex itself should store the rule that it proposed. */
export const AMENDMENT = "codex/execpolicyAmendment";

/**
 * The decision about a command. Codex remembers an approval for the session for the very same command; Flint remembers one
 * for always itself, is asked again, and so can revoke it. A rule of Codex applies in all folders, outside of Flint too, and
 * without any sandbox of Codex, so it is only made of what Codex proposed, and only on explicit request.
 */
export function commandDecision(decision: Decision, proposed?: readonly string[]): CodexCommandDecision {
  if (decision.outcome !== "allow") return refusal(decision);
  if (includesAmendment(decision, proposed))
    return { acceptWithExecpolicyAmendment: { execpolicy_amendment: [...proposed] } };
  return decision.scope === "session" && decision.rule === undefined ? "acceptForSession" : "accept";
}

/** The decision about a file change. Codex would remember an approval for the session for any change of these files. */
export function fileDecision(decision: Decision): CodexFileDecision {
  return decision.outcome === "allow" ? "accept" : refusal(decision);
}

/** The decision about one of the older requests. */
export function reviewDecision(decision: Decision, proposed?: readonly string[]): CodexReviewDecision {
  switch (decision.outcome) {
    case "allow":
      if (includesAmendment(decision, proposed))
        return { approved_execpolicy_amendment: { proposed_execpolicy_amendment: [...proposed] } };
      return decision.scope === "session" && decision.rule === undefined
        ? "approved_for_session"
        : "approved";
    case "deny":
      return { denied: { rejection: decision.message ?? "The user declined." } };
    case "cancel":
      return "abort";
  }
}

/** The decision about the use of a skill. */
export function skillDecision({ outcome }: Decision): CodexServerResult<"skill/requestApproval">["decision"] {
  return outcome === "allow" ? "approve" : "decline";
}

function includesAmendment(
  { scope, _meta: meta }: Decision,
  proposed: readonly string[] | undefined,
): proposed is readonly string[] {
  return scope === "always" && meta?.[AMENDMENT] === true && proposed !== undefined && proposed.length > 0;
}

function refusal({ outcome }: Decision): "decline" | "cancel" {
  return outcome === "cancel" ? "cancel" : "decline";
}
