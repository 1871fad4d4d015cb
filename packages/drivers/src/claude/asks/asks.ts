import type { TurnContext } from "@flint/core/ports";
import type { ClientTool } from "@flint/protocol";
import {
  ClaudeAsk,
  type ClaudeBlock,
  type ClaudeFrameOf,
  type ClaudePermission,
  type ClaudeToolAsk,
} from "@flint/protocol/claude";
import { plannedChanges } from "../translate/file-changes.ts";
import type { FileChanges } from "../translate/state.ts";
import { toolKind } from "../translate/tool-names.ts";
import { callReply, idleReply, isClientTool, serverReply } from "./client-tools.ts";
import { answerElicitation } from "./elicitation.ts";
import { actionOf, hookAnswer, permissionOf } from "./permissions.ts";
import { ASK_USER, answeredInput, questionsOf } from "./questions.ts";

/** What a question is answered with. */
export type AskAnswer =
  | { readonly response: ClaudePermission | Readonly<Record<string, unknown>> }
  | { readonly refusal: string };

/** What a turn knows about the tools that Claude asks about. */
export interface AskedTools {
  /** The item that shows this use of a tool, made if there is none yet. */
  itemOf(toolUse: ClaudeBlock, changes: FileChanges): string;
  /** The item of the tool that began last and has not ended. */
  openItem(): string;
  /** The tools that the client offers. */
  readonly offered: readonly ClientTool[];
  /** It was not allowed. */
  declined(toolUseId: string): void;
}

type Request = ClaudeFrameOf<"control_request">["request"];

const UNANSWERED =
  "Nobody answered. Go on with what you think is best, or stop and say what you need to know.";

/** Answers whatever Claude asks during a turn. Never rejects. */
export async function answerAsk(request: Request, turn: TurnContext, tools: AskedTools): Promise<AskAnswer> {
  const { data: ask } = ClaudeAsk.safeParse(request);
  if (ask === undefined) return unknown(request);
  if (ask.subtype === "hook_callback") {
    return { response: hookAnswer(ask.input.tool_name ?? "", turn.settings.approvalPolicy) };
  }
  if (ask.subtype === "elicitation") {
    const itemId = tools.openItem();
    return { response: await answerElicitation(ask, (questions) => turn.ask(itemId, questions)) };
  }
  if (ask.subtype === "mcp_message") {
    const itemOf = (id: string | undefined, name: string, input: Readonly<Record<string, unknown>>) =>
      id === undefined
        ? tools.openItem()
        : tools.itemOf({ type: "tool_use", id, name, input: { ...input } }, new Map());
    const known = serverReply(ask, tools.offered);
    return { response: known ?? (await callReply(ask, { turn, tools: tools.offered, itemOf })) };
  }
  const permission = ask.tool_name === ASK_USER ? askUser(ask, turn, tools) : approve(ask, turn, tools);
  return { response: await permission };
}

/** Answers what Claude asks while no turn runs: nobody is there to look at it. */
export function answerAlone(request: Request): AskAnswer {
  const { data: ask } = ClaudeAsk.safeParse(request);
  if (ask === undefined) return unknown(request);
  if (ask.subtype === "hook_callback") return { response: hookAnswer("", "always") };
  if (ask.subtype === "elicitation") return { response: { action: "cancel" } };
  if (ask.subtype === "mcp_message") return { response: idleReply(ask) };
  const message = "No turn is running, so nobody can allow this. Wait for the next message of the user.";
  return { response: { behavior: "deny", message, interrupt: false } };
}

async function approve(ask: ClaudeToolAsk, turn: TurnContext, tools: AskedTools): Promise<ClaudePermission> {
  const { tool_name: name, tool_use_id: id, input } = ask;
  if (toolKind(name) === "answer" || isClientTool(name, tools.offered))
    return { behavior: "allow", updatedInput: input };
  const { cwd } = turn.settings;
  // Looked at now, and not when Claude first wrote of it: this is what will be allowed.
  const changes = toolKind(name) === "file" ? await plannedChanges(name, input, cwd) : undefined;
  const shown: FileChanges = changes === undefined ? new Map() : new Map([[id, changes]]);
  const itemId = tools.itemOf({ type: "tool_use", id, name, input }, shown);
  const decision = await turn.approve(actionOf(ask, itemId, cwd, changes));
  if (decision.outcome !== "allow") tools.declined(id);
  return permissionOf(decision, input);
}

async function askUser(ask: ClaudeToolAsk, turn: TurnContext, tools: AskedTools): Promise<ClaudePermission> {
  const { tool_name: name, tool_use_id: id, input } = ask;
  const itemId = tools.itemOf({ type: "tool_use", id, name, input }, new Map());
  const answered = answeredInput(input, await turn.ask(itemId, questionsOf(input)));
  if (answered !== undefined) return { behavior: "allow", updatedInput: answered };
  tools.declined(id);
  return { behavior: "deny", message: UNANSWERED, interrupt: false };
}

function unknown({ subtype }: Request): AskAnswer {
  return { refusal: `Flint does not know ${subtype} in this form.` };
}
