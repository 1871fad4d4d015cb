import type { SessionUpdate } from "@agentclientprotocol/sdk/experimental/v2";
import {
  type Approval,
  FlintError,
  type Item,
  type PlanEntry,
  type Turn,
  type UserQuestion,
} from "@flint/protocol";
import { permissionOptions, questionText } from "../asks/permission.ts";
import { type ClientRequest, choiceOptions, type QuestionAnswer } from "../asks/questions.ts";
import { stopReasonOf } from "../prompt/stop-reason.ts";
import type {
  CommandOutput,
  SentReasoning,
  SessionState,
  TextKind,
  UpdateFormat,
} from "../protocol-version.ts";
import { blocksOf, textBlock } from "../views/content.ts";
import type { ToolView } from "../views/tool-view.ts";
import { rpcErrorOf } from "../vocabulary.ts";
import { terminalChunk, toolCallFields, toolCallUpdates } from "./tool-calls.ts";

/** The updates of version 2: whole messages replace what the client has, and a session has a state. */
export class UpdatesV2 implements UpdateFormat {
  readonly key = "2";
  readonly echoesPrompts = true;
  readonly commandOutput: CommandOutput = { type: "chunks", chunk: terminalChunk };

  textChunk(kind: TextKind, itemId: string, text: string): SessionUpdate {
    const chunk = { messageId: itemId, content: textBlock(text) };
    return kind === "message"
      ? { sessionUpdate: "agent_message_chunk", ...chunk }
      : { sessionUpdate: "agent_thought_chunk", ...chunk };
  }

  text(kind: TextKind, itemId: string, text: string): SessionUpdate[] {
    const message = { messageId: itemId, content: [textBlock(text)] };
    return [
      kind === "message"
        ? { sessionUpdate: "agent_message", ...message }
        : { sessionUpdate: "agent_thought", ...message },
    ];
  }

  reasoning({ id, summary = "", content = "" }: Item<"reasoning">, _sent: SentReasoning): SessionUpdate[] {
    const blocks = [summary, content].filter((text) => text !== "").map(textBlock);
    return [{ sessionUpdate: "agent_thought", messageId: id, content: blocks }];
  }

  userMessage({ id, content }: Item<"userMessage">): SessionUpdate[] {
    return [{ sessionUpdate: "user_message", messageId: id, content: blocksOf(content) }];
  }

  toolCall(view: ToolView, isNew: boolean): SessionUpdate[] {
    return toolCallUpdates(view, isNew);
  }

  /** Version 2 has no terminals of clients. */
  terminal(): SessionUpdate[] {
    return [];
  }

  reviewStarted({ id, review }: Item<"enteredReviewMode">): SessionUpdate[] {
    return this.text("thought", id, `Review: ${review}`);
  }

  compaction(
    { id, summary }: Item<"contextCompaction">,
    status: "in_progress" | "completed",
  ): SessionUpdate[] {
    const result = summary === undefined || status === "in_progress" ? {} : { summary: [textBlock(summary)] };
    return [{ sessionUpdate: "compaction_update", compactionId: id, status, ...result }];
  }

  plan(turnId: string, steps: readonly PlanEntry[]): SessionUpdate[] {
    const entries = steps.map(({ step, status, priority = "medium" }) => ({
      content: status === "failed" ? `${step} (failed)` : step,
      priority,
      status: status === "inProgress" ? "in_progress" : status === "failed" ? "cancelled" : status,
    }));
    return [{ sessionUpdate: "plan_update", plan: { type: "items", planId: turnId, entries } }];
  }

  notice(severity: "info" | "warning" | "error", title: string): SessionUpdate[] {
    return [{ sessionUpdate: "notice", severity, title: title === "" ? "Something went wrong." : title }];
  }

  state(state: SessionState, stopReason?: "end_turn"): SessionUpdate[] {
    const update: unknown = {
      ...{ sessionUpdate: "state_update", state },
      ...(stopReason === undefined ? {} : { stopReason }),
    };
    // The draft types each state as a variant of its own.
    return [update as SessionUpdate];
  }

  turnCompleted(turn: Turn): SessionUpdate[] {
    const stopReason = stopReasonOf(turn);
    const idle = { sessionUpdate: "state_update", state: "idle" } as const;
    if (!(stopReason instanceof FlintError)) {
      const update: unknown = { ...idle, stopReason };
      // The draft types each stop reason as a variant of its own.
      return [update as SessionUpdate];
    }
    const { code, message, data } = rpcErrorOf(stopReason);
    return [{ ...idle, stopReason: "error", error: { code, message, data: Object(data) } }];
  }

  /** The state after the turn carries the error. */
  turnFailed(): SessionUpdate[] {
    return [];
  }

  message(messageId: string, text: string): SessionUpdate[] {
    return this.text("message", messageId, text);
  }

  aside(messageId: string, text: string): SessionUpdate[] {
    return this.message(messageId, text);
  }

  permissionRequest(
    sessionId: string,
    approval: Approval,
    view: ToolView,
  ): { method: string; params: object } {
    const { action } = approval;
    const text = questionText(action);
    const description = text === "" ? {} : { description: text };
    const { id, title } = view;
    const subject =
      action.kind === "command"
        ? { type: "command", command: action.command, cwd: action.cwd, toolCallId: id, terminalId: id }
        : { type: "tool_call", toolCall: toolCallFields({ ...view, status: "pending" }) };
    return {
      method: "session/request_permission",
      params: { sessionId, title, ...description, subject, options: permissionOptions(approval) },
    };
  }

  choiceRequest(sessionId: string, _itemId: string, question: UserQuestion): ClientRequest<QuestionAnswer> {
    const { options, read } = choiceOptions(question);
    const params = { sessionId, options, title: question.question };
    return { method: "session/request_permission", params, read };
  }
}
