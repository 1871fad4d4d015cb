import { type AskUser, answerElicitation, type ElicitationResult } from "@flint/core/elicitation";
import type { TurnContext } from "@flint/core/ports";
import { realPathOrSame } from "@flint/host/files";
import {
  type Action,
  type Answers,
  type ApprovalPolicy,
  type ClientTool,
  type Decision,
  type FileUpdateChange,
  listOf,
  type Permission,
  type ThreadSettings,
  type UserQuestion,
} from "@flint/protocol";
import {
  ClaudeAsk,
  type ClaudeBlock,
  type ClaudeElicitation,
  type ClaudeFrameOf,
  type ClaudeMcpMessage,
  type ClaudePermission,
  type ClaudeToolAsk,
} from "@flint/protocol/claude";
import { type JsonObject, objectOf, stringField } from "../shared/json.ts";
import { sandboxedChange } from "../shared/outside-changes.ts";
import { requiresBroker, unconfinedNeed } from "../shared/permissions.ts";
import { callReply, isClientTool, noTurnReply, serverReply } from "./client-tools.ts";
import { denialHookResponse, isAfterTool } from "./denial-hook.ts";
import { plannedChanges } from "./translate/file-changes.ts";
import type { FileChanges } from "./translate/state.ts";
import { isBookkeeping, isReadOnly, mcpNames, toolKind } from "./translate/tools.ts";

/** The response to a control request of Claude, or why there is none. */
export type ControlResponse =
  | { readonly response: ClaudePermission | Readonly<Record<string, unknown>> }
  | { readonly error: string };

/** The tool uses of a turn, for the requests that are about them. */
export interface TurnTools {
  /** The item that shows this use of a tool, if there is one. */
  knownItem(toolUseId: string): string | undefined;
  /** The item that shows this use of a tool, started if there is none yet. */
  itemOf(toolUse: ClaudeBlock, changes: FileChanges): string;
  /** The item of the tool that began last and has not ended. */
  openItem(): string;
  readonly clientTools: readonly ClientTool[];
  /** Marks a use of a tool that was not approved. */
  decline(toolUseId: string): void;
  /** The command line that runs an approved command with what it needs; undefined where that is not possible. */
  readonly grant: ((command: string, cwd: string, needs: Permission) => string) | undefined;
}

type Request = ClaudeFrameOf<"control_request">["request"];

const NO_ANSWER =
  "There was no answer. Continue with what you think is best, or stop and say what you need to know.";
const NO_CHANGES: FileChanges = new Map();

/** Answers a control request of Claude during a turn: from a hook, or to ask for approval or the user. Never rejects. */
export async function answerControlRequest(
  request: Request,
  turn: TurnContext,
  tools: TurnTools,
): Promise<ControlResponse> {
  const { data: ask } = ClaudeAsk.safeParse(request);
  if (ask === undefined) return unsupported(request);
  switch (ask.subtype) {
    case "hook_callback":
      if (isAfterTool(ask.input)) return { response: await denialHookResponse(ask.input, turn, tools) };
      return { response: hookResponse(ask.input.tool_name ?? "", turn.settings.approvalPolicy) };
    case "elicitation": {
      const itemId = tools.openItem();
      return { response: await elicit(ask, (questions) => turn.ask(itemId, questions)) };
    }
    case "mcp_message":
      return { response: await callClientTool(ask, turn, tools) };
    case "can_use_tool":
      return { response: await (ask.tool_name === ASK_USER ? askUser : approve)(ask, turn, tools) };
  }
}

/** Answers a control request while no turn runs, when there is no user to ask. */
export function answerOutsideTurn(request: Request): ControlResponse {
  const { data: ask } = ClaudeAsk.safeParse(request);
  if (ask === undefined) return unsupported(request);
  switch (ask.subtype) {
    case "hook_callback":
      return { response: isAfterTool(ask.input) ? CONTINUE : hookResponse("", "always") };
    case "elicitation":
      return { response: { action: "cancel" } };
    case "mcp_message":
      return { response: noTurnReply(ask) };
    case "can_use_tool": {
      const message = "No turn is running, so this cannot be approved. Wait for the user's next message.";
      return { response: { behavior: "deny", message, interrupt: false } };
    }
  }
}

/** Asks the user the questions of an MCP server's elicitation. */
export function elicit(request: ClaudeElicitation, ask: AskUser): Promise<ElicitationResult> {
  const { mcp_server_name: server, requested_schema: requestedSchema, mode, message, url } = request;
  const form = { mode: mode ?? "form", message, url, requestedSchema };
  return answerElicitation(`The MCP server ${server}`, form, ask);
}

async function callClientTool(ask: ClaudeMcpMessage, turn: TurnContext, tools: TurnTools) {
  const itemOf = (id: string | undefined, name: string, input: Readonly<Record<string, unknown>>) =>
    id === undefined
      ? tools.openItem()
      : tools.itemOf({ type: "tool_use", id, name, input: { ...input } }, NO_CHANGES);
  const { clientTools } = tools;
  return serverReply(ask, clientTools) ?? (await callReply(ask, { turn, tools: clientTools, itemOf }));
}

async function approve(ask: ClaudeToolAsk, turn: TurnContext, tools: TurnTools): Promise<ClaudePermission> {
  const { tool_name: name, tool_use_id: id, input } = ask;
  if (toolKind(name) === "answer" || isClientTool(name, tools.clientTools))
    return { behavior: "allow", updatedInput: input };
  const { cwd } = turn.settings;
  // Read again now, and not when Claude first named the change: this is what will be approved.
  const changes = toolKind(name) === "file" ? await plannedChanges(name, input, cwd) : undefined;
  const shown: FileChanges = changes === undefined ? NO_CHANGES : new Map([[id, changes]]);
  const itemId = tools.itemOf({ type: "tool_use", id, name, input }, shown);
  const change = await sandboxedChange(actionOf(ask, itemId, cwd, changes), turn.settings);
  const action = withNeeds(change.action, requestedPermission(ask, turn.settings), tools.grant !== undefined);
  // Resolved before it is approved: a link could lead elsewhere afterwards.
  const folder = await realPathOrSame(cwd);
  const decision = await turn.approve(action, change.guarantees);
  if (decision.outcome !== "allow") tools.decline(id);
  const needs = decision.granted ?? action.needs;
  return permissionOf(decision, inputFor(action, needs, folder, input, tools));
}

/**
 * Returns the input that Claude runs: the command of an action, through the broker if it was granted more
 * than its sandbox allows.
 */
function inputFor(
  action: Action,
  needs: Permission | undefined,
  folder: string,
  input: ClaudeToolAsk["input"],
  { grant }: TurnTools,
) {
  if (action.kind !== "command" || !requiresBroker(needs) || grant === undefined) return input;
  const { [LEAVES_SANDBOX]: _, ...rest } = input;
  return { ...rest, command: grant(action.command, folder, needs) };
}

/** The field with which Claude asks to run a command outside of its sandbox. */
const LEAVES_SANDBOX = "dangerouslyDisableSandbox";

/**
 * Returns the permissions that a command requests beyond its sandbox. Folders that Claude suggests to add may
 * be those of its own settings.
 */
export function requestedPermission(
  { tool_name: name, input }: ClaudeToolAsk,
  settings: ThreadSettings,
): Permission | undefined {
  const isLeaving = toolKind(name) === "command" && input[LEAVES_SANDBOX] === true;
  return isLeaving ? unconfinedNeed(settings) : undefined;
}

/** An action with what it needs. Where nothing can run beyond the sandbox, the user reads that it stays inside. */
function withNeeds(action: Action, needs: Permission | undefined, isPossible: boolean): Action {
  if (needs === undefined) return action;
  if (isPossible) return { ...action, needs };
  return { ...action, reason: [action.reason, STAYS_INSIDE].filter((part) => part !== undefined).join(" ") };
}

const STAYS_INSIDE =
  "(Claude asks for more than the sandbox allows, which is not possible here (flint doctor says why); it stays in the sandbox.)";

async function askUser(ask: ClaudeToolAsk, turn: TurnContext, tools: TurnTools): Promise<ClaudePermission> {
  const { tool_name: name, tool_use_id: id, input } = ask;
  const itemId = tools.itemOf({ type: "tool_use", id, name, input }, NO_CHANGES);
  const answered = answeredInput(input, await turn.ask(itemId, questionsOf(input)));
  if (answered !== undefined) return { behavior: "allow", updatedInput: answered };
  tools.decline(id);
  return { behavior: "deny", message: NO_ANSWER, interrupt: false };
}

function unsupported({ subtype }: Request): ControlResponse {
  return { error: `Flint does not support ${subtype} in this form.` };
}

/** The message to Claude when a decision gives no reason. */
const DECLINED = "The user declined this. Do not try it again in another way; ask what to do instead.";

/** The hook response that makes Claude ask, also where it would not have. */
const ASK = {
  hookSpecificOutput: {
    hookEventName: "PreToolUse",
    permissionDecision: "ask",
    permissionDecisionReason: "Flint's approval policy decides.",
  },
} as const;

const CONTINUE = { continue: true } as const;

/** The response of the hook before each tool. Whatever may change something has to pass Flint's own policy. */
export function hookResponse(toolName: string, policy: ApprovalPolicy): Readonly<Record<string, unknown>> {
  const isAsked = policy === "always" ? !isBookkeeping(toolName) : !isReadOnly(toolName);
  return isAsked ? ASK : CONTINUE;
}

/** The action that Claude requests approval for. */
export function actionOf(
  ask: ClaudeToolAsk,
  itemId: string,
  cwd: string,
  changes: readonly FileUpdateChange[] | undefined,
): Action {
  const { tool_name: name, input } = ask;
  const common = { itemId, ...reasonOf(ask) };
  switch (toolKind(name)) {
    case "command":
      return { kind: "command", ...common, command: stringField(input, "command") ?? "", cwd };
    case "file":
      if (changes !== undefined) return { kind: "fileChange", ...common, changes: [...changes] };
      return { kind: "tool", ...common, tool: name, arguments: input };
    case "mcp":
      return { kind: "tool", ...common, ...mcpNames(name), arguments: input };
    case "search":
    case "plan":
    case "answer":
    case "other":
      return { kind: "tool", ...common, tool: name, arguments: input };
  }
}

/**
 * A decision as Claude's permission. Claude's own suggestions are never used: each would allow more than what was shown,
 * and Flint itself remembers what is allowed for longer than once.
 */
export function permissionOf(decision: Decision, input: ClaudeToolAsk["input"]): ClaudePermission {
  switch (decision.outcome) {
    case "allow":
      return { behavior: "allow", updatedInput: input };
    case "deny":
      return { behavior: "deny", message: decision.message ?? DECLINED, interrupt: false };
    case "cancel":
      return { behavior: "deny", message: decision.message ?? "The user stopped the turn.", interrupt: true };
  }
}

/** Claude's own reason. That a hook requires approval is none for the user, and neither is the command or file itself. */
function reasonOf({ description, decision_reason, decision_reason_type, input }: ClaudeToolAsk): {
  reason?: string;
} {
  const reason = decision_reason_type === "hook" ? description : (decision_reason ?? description);
  if (reason == null || reason === "") return {};
  const file = stringField(input, "file_path") ?? stringField(input, "notebook_path");
  const isUseful = reason !== stringField(input, "command") && file?.endsWith(reason) !== true;
  return isUseful ? { reason } : {};
}

/** The tool with which Claude asks the user. */
export const ASK_USER = "AskUserQuestion";

/** The questions in the input of that tool. */
export function questionsOf({ questions }: JsonObject): UserQuestion[] {
  return listOf(questions).map((question, index) => {
    const header = stringField(question, "header");
    const options = listOf(objectOf(question).options).map(optionOf);
    return {
      id: String(index + 1),
      question: stringField(question, "question") ?? "",
      ...(header === undefined ? {} : { header }),
      ...(options.length === 0 ? {} : { options }),
      ...(objectOf(question).multiSelect === true ? { multiple: true } : {}),
    };
  });
}

/** The input of that tool with the answers in it, by the text of each question; undefined if there is no answer. */
export function answeredInput(input: JsonObject, answers: Answers): JsonObject | undefined {
  const given = questionsOf(input).flatMap(({ id, question }) => {
    const chosen = answers[id]?.answers ?? [];
    return chosen.length === 0 ? [] : [[question, chosen.join(", ")] as const];
  });
  return given.length === 0 ? undefined : { ...input, answers: Object.fromEntries(given) };
}

function optionOf(option: unknown): { label: string; description?: string } {
  const label = stringField(option, "label") ?? "";
  const description = stringField(option, "description");
  return description === undefined ? { label } : { label, description };
}
