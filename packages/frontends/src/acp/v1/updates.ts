import type { PlanEntry, SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";
import type { Approval, Item, PlanEntry as PlanStep, TurnError, UserQuestion } from "@flint/protocol";
import { permissionOptions, questionText } from "../asks/permission.ts";
import { type ClientRequest, choiceOptions, type QuestionAnswer } from "../asks/questions.ts";
import type { ClientCapabilities } from "../capabilities.ts";
import type { CommandOutput, SentReasoning, TextKind, UpdateFormat } from "../protocol-version.ts";
import { blocksOf, textBlock } from "../views/content.ts";
import type { ToolView } from "../views/tool-view.ts";
import { changedToolCall, newToolCall, outputSoFar, terminalOutput, toolCallFields } from "./tool-calls.ts";

/** The updates of version 1: text is appended to what the client has, and there are no session states. */
export class UpdatesV1 implements UpdateFormat {
  readonly key: string;
  readonly echoesPrompts = false;
  readonly commandOutput: CommandOutput;
  readonly #capabilities: ClientCapabilities;

  constructor(capabilities: ClientCapabilities) {
    const { notices, compaction, terminalOutput: terminals } = capabilities;
    this.key = `1${Number(notices)}${Number(compaction)}${Number(terminals)}`;
    this.commandOutput = terminals
      ? { type: "chunks", chunk: terminalOutput }
      : { type: "tail", tail: outputSoFar };
    this.#capabilities = capabilities;
  }

  textChunk(kind: TextKind, itemId: string, text: string): SessionUpdate {
    const sessionUpdate = kind === "message" ? "agent_message_chunk" : "agent_thought_chunk";
    return { sessionUpdate, messageId: itemId, content: textBlock(text) };
  }

  text(kind: TextKind, itemId: string, text: string, sent: number): SessionUpdate[] {
    return text.length <= sent ? [] : [this.textChunk(kind, itemId, text.slice(sent))];
  }

  reasoning({ id, summary = "", content = "" }: Item<"reasoning">, sent: SentReasoning): SessionUpdate[] {
    return [
      ...this.text("thought", id, summary, sent.summary),
      ...this.text("thought", id, content, sent.content),
    ];
  }

  userMessage({ id, content }: Item<"userMessage">): SessionUpdate[] {
    return blocksOf(content).map((block) => ({
      sessionUpdate: "user_message_chunk",
      messageId: id,
      content: block,
    }));
  }

  toolCall(view: ToolView, isNew: boolean): SessionUpdate[] {
    const { terminalOutput: terminals } = this.#capabilities;
    return [isNew ? newToolCall(view, terminals) : changedToolCall(view, terminals)];
  }

  terminal(toolCallId: string, terminalId: string): SessionUpdate[] {
    const content: ToolCallContent[] = [{ type: "terminal", terminalId }];
    return [{ sessionUpdate: "tool_call_update", toolCallId, status: "in_progress", content }];
  }

  reviewStarted({ id, review }: Item<"enteredReviewMode">): SessionUpdate[] {
    return [this.textChunk("thought", id, `Review: ${review}\n`)];
  }

  compaction(
    { id, summary }: Item<"contextCompaction">,
    status: "in_progress" | "completed",
  ): SessionUpdate[] {
    if (this.#capabilities.compaction) {
      const result =
        summary === undefined || status === "in_progress" ? {} : { summary: [textBlock(summary)] };
      return [{ sessionUpdate: "compaction_update", compactionId: id, status, ...result }];
    }
    if (status === "in_progress") return [];
    return this.message(id, "The conversation so far was summarised to make room.\n");
  }

  plan(_turnId: string, entries: readonly PlanStep[]): SessionUpdate[] {
    return [{ sessionUpdate: "plan", entries: entries.map(planEntry) }];
  }

  /** A client without notices gets a thought, which it does not take for the answer. */
  notice(severity: "info" | "warning" | "error", title: string): SessionUpdate[] {
    if (title === "") return [];
    if (this.#capabilities.notices) return [{ sessionUpdate: "notice", severity, title }];
    return [{ sessionUpdate: "agent_thought_chunk", content: textBlock(`${title}\n`) }];
  }

  state(): SessionUpdate[] {
    return [];
  }

  turnCompleted(): SessionUpdate[] {
    return [];
  }

  turnFailed(turnId: string, { message }: TurnError): SessionUpdate[] {
    return this.#capabilities.notices ? this.notice("error", message) : this.aside(turnId, message);
  }

  message(messageId: string, text: string): SessionUpdate[] {
    return [this.textChunk("message", messageId, text)];
  }

  aside(messageId: string, text: string): SessionUpdate[] {
    return this.message(messageId, `\n${text}\n`);
  }

  permissionRequest(
    sessionId: string,
    approval: Approval,
    view: ToolView,
  ): { method: string; params: object } {
    const { reason, needs } = approval.action;
    // Editors show the tool call and the options, and nothing of `_meta`.
    const text = needs === undefined ? "" : questionText(approval.action);
    const asked: ToolView =
      text === "" ? view : { ...view, outputs: [{ type: "text", text }, ...view.outputs] };
    const fields = toolCallFields(asked, this.#capabilities.terminalOutput);
    const meta = reason === undefined || reason === "" ? {} : { _meta: { reason } };
    const toolCall = { ...fields, status: "pending", ...meta };
    return {
      method: "session/request_permission",
      params: { sessionId, toolCall, options: permissionOptions(approval) },
    };
  }

  choiceRequest(sessionId: string, itemId: string, question: UserQuestion): ClientRequest<QuestionAnswer> {
    const { options, read } = choiceOptions(question);
    const toolCall = { toolCallId: itemId, title: question.question, kind: "other", status: "pending" };
    return { method: "session/request_permission", params: { sessionId, toolCall, options }, read };
  }
}

/** Version 1 has no failed plan entries, so the text states it. */
function planEntry(
  { step, status, priority = "medium" }: PlanStep,
  index: number,
): PlanEntry & { id: string } {
  const entry = { id: String(index + 1), priority };
  if (status === "failed") return { ...entry, content: `${step} (failed)`, status: "completed" };
  return { ...entry, content: step, status: status === "inProgress" ? "in_progress" : status };
}
