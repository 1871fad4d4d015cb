import { answerElicitation } from "@flint/core/elicitation";
import type { TurnContext } from "@flint/core/ports";
import { shellQuote } from "@flint/core/text";
import { type Action, type Decision, isKnownItem, isUnconfined, type UserQuestion } from "@flint/protocol";
import type { CodexServerCall, CodexServerParams, CodexServerResult } from "@flint/protocol/codex";
import { fileChange } from "../translate/file-changes.ts";
import { itemIdOf } from "../translate/items.ts";
import { unwrapShell } from "../translate/shell-words.ts";
import { changesOf, type TranslateState } from "../translate.ts";
import { dynamicToolResult } from "./client-tools.ts";
import { commandDecision, fileDecision, reviewDecision, skillDecision } from "./decisions.ts";

type Params<Name extends CodexServerCall["method"]> = CodexServerParams<Name>;

/** The turn in which Codex asks, and what is known of its items. */
export interface AskedTurn {
  readonly turn: TurnContext;
  state(): TranslateState;
}

/** Answers what Codex asks in a turn: the policy or a person decides, Codex's own words are found for it. */
export async function answerCall(call: CodexServerCall, asked: AskedTurn): Promise<object> {
  switch (call.method) {
    case "item/commandExecution/requestApproval":
      return {
        decision: commandDecision(await approveCommand(call.params, asked), proposedIn(call.params, asked)),
      };
    case "item/fileChange/requestApproval":
      return { decision: fileDecision(await approveFiles(call.params, asked)) };
    case "item/permissions/requestApproval":
      return approvePermissions(call.params, asked);
    case "item/tool/requestUserInput":
      return askUser(call.params, asked);
    case "mcpServer/elicitation/request":
      return elicit(call.params, asked);
    case "item/tool/call":
      return callTool(call.params, asked);
    case "execCommandApproval":
      return {
        decision: reviewDecision(await approveOldCommand(call.params, asked), proposedIn(call.params, asked)),
      };
    case "applyPatchApproval":
      return { decision: reviewDecision(await approveOldPatch(call.params, asked)) };
    case "skill/requestApproval":
      return { decision: skillDecision(await approveSkill(call.params, asked)) };
  }
}

async function approveCommand(
  params: Params<"item/commandExecution/requestApproval">,
  { turn }: AskedTurn,
): Promise<Decision> {
  const itemId = itemIdOf(params.itemId);
  if (leavesSandbox(params) && !isUnconfined(turn.settings.sandboxPolicy)) return declined(turn, params);
  const { networkApprovalContext: network, command, cwd, reason } = params;
  const why = reasonOf(reason);
  if (network !== undefined && network !== null) {
    return turn.approve({ kind: "tool", itemId, tool: "network", arguments: { ...network }, ...why });
  }
  if (typeof command !== "string" || params.kind === "writeStdin") {
    return turn.approve({ kind: "tool", itemId, tool: "writeStdin", arguments: { command }, ...why });
  }
  const folder = cwd ?? turn.settings.cwd;
  return turn.approve({ kind: "command", itemId, command: unwrapShell(command), cwd: folder, ...why });
}

/**
 * Codex asks with a reason only when a command is to run outside of its sandbox, and nothing tells such a wish without a
 * reason from any other command (0.166.0, November 2026). The wall around the process holds for both; this is only the
 * sooner and clearer no.
 */
function leavesSandbox(params: Params<"item/commandExecution/requestApproval">): boolean {
  const { reason, additionalPermissions, networkApprovalContext } = params;
  const isWidened = additionalPermissions !== undefined && additionalPermissions !== null;
  const reachesOut = networkApprovalContext !== undefined && networkApprovalContext !== null;
  return isWidened || reachesOut || (typeof reason === "string" && params.kind !== "writeStdin");
}

function declined(
  turn: TurnContext,
  { command }: { readonly command?: string | null | undefined },
): Decision {
  const what = typeof command === "string" ? `"${unwrapShell(command)}"` : "a connection";
  const message = `Codex wanted ${what} outside of the sandbox. The sandbox policy ${turn.settings.sandboxPolicy.type} does not allow that; choose another one if it is needed.`;
  turn.emit({ type: "extension", method: "codex/warning", params: { message } });
  return { outcome: "deny", scope: "once", message };
}

function approveFiles(
  { itemId, reason, grantRoot }: Params<"item/fileChange/requestApproval">,
  { turn, state }: AskedTurn,
): Promise<Decision> | Decision {
  if (typeof grantRoot === "string" && !isUnconfined(turn.settings.sandboxPolicy)) return declined(turn, {});
  const changes = changesOf(state(), itemId);
  return turn.approve({ kind: "fileChange", itemId: itemIdOf(itemId), changes, ...reasonOf(reason) });
}

/** Answered with what is granted, which is nothing where the sandbox policy is the limit. */
async function approvePermissions(
  { itemId, permissions, reason }: Params<"item/permissions/requestApproval">,
  { turn }: AskedTurn,
): Promise<CodexServerResult<"item/permissions/requestApproval">> {
  const nothing = { permissions: {}, scope: "turn" } as const;
  if (!isUnconfined(turn.settings.sandboxPolicy)) {
    declined(turn, {});
    return nothing;
  }
  const action: Action = {
    ...{ kind: "tool", itemId: itemIdOf(itemId), tool: "permissions", arguments: permissions },
    ...reasonOf(reason),
  };
  const { outcome, scope } = await turn.approve(action);
  if (outcome !== "allow") return nothing;
  return { permissions, scope: scope === "session" ? "session" : "turn" };
}

async function askUser(
  { itemId, questions }: Params<"item/tool/requestUserInput">,
  { turn }: AskedTurn,
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
  { turn }: AskedTurn,
): Promise<CodexServerResult<"item/tool/call">> {
  const of = namespace ?? undefined;
  const call = { itemId: itemIdOf(callId), tool, namespace: of, arguments: given };
  return dynamicToolResult(await turn.callTool(call));
}

/** Either Codex asks whether a tool of an MCP server may be called, or the server itself wants to know something. */
async function elicit(
  params: Params<"mcpServer/elicitation/request">,
  { turn, state }: AskedTurn,
): Promise<CodexServerResult<"mcpServer/elicitation/request">> {
  const { serverName: server, message = "", _meta: meta } = params;
  const call = openCall(state(), server, Reflect.get(Object(meta), "tool_params"));
  if (Reflect.get(Object(meta), "codex_approval_kind") === "mcp_tool_call") {
    const given: unknown = Reflect.get(Object(meta), "tool_params") ?? {};
    const tool = call?.tool ?? /tool "([^"]+)"/.exec(message)?.[1] ?? "unknown";
    const itemId = call?.id ?? turn.turnId;
    const { outcome } = await turn.approve({ kind: "tool", itemId, tool, server, arguments: given });
    return ELICITED[outcome];
  }
  const itemId = call?.id ?? turn.turnId;
  const answer = await answerElicitation(`The MCP server ${server}`, params, (questions) =>
    turn.ask(itemId, questions),
  );
  return { content: null, ...answer, _meta: null };
}

const ELICITED = {
  allow: { action: "accept", content: {}, _meta: null },
  deny: { action: "decline", content: null, _meta: null },
  cancel: { action: "cancel", content: null, _meta: null },
} as const satisfies Record<string, CodexServerResult<"mcpServer/elicitation/request">>;

/** The call of a server's tool that is under way, best the one with these arguments. */
function openCall(
  { open }: TranslateState,
  server: string,
  given: unknown,
): { readonly id: string; readonly tool: string } | undefined {
  const known = [...open.values()].filter(isKnownItem);
  const calls = known.flatMap((item) =>
    item.type === "mcpToolCall" && item.server === server ? [item] : [],
  );
  const wanted = JSON.stringify(given ?? {});
  return calls.findLast((call) => JSON.stringify(call.arguments ?? {}) === wanted) ?? calls.at(-1);
}

function approveOldCommand(
  { callId, command, cwd, reason }: Params<"execCommandApproval">,
  { turn }: AskedTurn,
): Promise<Decision> | Decision {
  const line = command.map(shellQuote).join(" ");
  if (typeof reason === "string" && !isUnconfined(turn.settings.sandboxPolicy))
    return declined(turn, { command: line });
  return turn.approve({
    kind: "command",
    itemId: itemIdOf(callId),
    command: unwrapShell(line),
    cwd,
    ...reasonOf(reason),
  });
}

function approveOldPatch(
  { callId, fileChanges, reason, grantRoot }: Params<"applyPatchApproval">,
  { turn }: AskedTurn,
): Promise<Decision> | Decision {
  if (typeof grantRoot === "string" && !isUnconfined(turn.settings.sandboxPolicy)) return declined(turn, {});
  const changes = Object.entries(fileChanges).map(
    ([path, { type, content, unified_diff: diff, move_path: moved }]) =>
      fileChange({ path, kind: { type, move_path: moved }, diff: diff ?? content ?? "" }, turn.settings.cwd),
  );
  return turn.approve({ kind: "fileChange", itemId: itemIdOf(callId), changes, ...reasonOf(reason) });
}

function approveSkill(
  { itemId, skillName }: Params<"skill/requestApproval">,
  { turn }: AskedTurn,
): Promise<Decision> {
  return turn.approve({
    kind: "tool",
    itemId: itemIdOf(itemId),
    tool: "skill",
    arguments: { skill: skillName },
  });
}

/** The rule that Codex proposes to make. It could not keep one where it is confined, and may not have it there. */
function proposedIn(params: object, { turn }: AskedTurn): readonly string[] | undefined {
  if (!isUnconfined(turn.settings.sandboxPolicy)) return undefined;
  const proposed: unknown =
    Reflect.get(params, "proposedExecpolicyAmendment") ??
    Reflect.get(params, "proposed_execpolicy_amendment");
  return Array.isArray(proposed) ? proposed.filter((word) => typeof word === "string") : undefined;
}

function reasonOf(reason: string | null | undefined): { readonly reason?: string } {
  return typeof reason === "string" && reason !== "" ? { reason } : {};
}
