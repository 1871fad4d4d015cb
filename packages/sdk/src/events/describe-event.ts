import { previewOf } from "@flint/protocol";
import {
  describeAction,
  describeError,
  describeItem,
  describePlan,
  describeReroute,
  describeResolution,
} from "@flint/view";
import type { AgentEvent } from "./agent-event.ts";

/**
 * Describes an event in one line, for a channel that shows what an agent does; undefined for events that are not worth a
 * line, such as streamed text and the answer itself. The line has no control characters and at most 160 characters.
 */
export function describeEvent(event: AgentEvent): string | undefined {
  const text = lineOf(event);
  // Escape sequences in a file name or an output must not reach a terminal.
  return text === undefined ? undefined : previewOf(text.replace(/\p{Cc}+/gu, " "));
}

function lineOf(event: AgentEvent): string | undefined {
  switch (event.type) {
    case "item/started":
      return describeItem(event.data.item, "started");
    case "item/completed":
      return describeItem(event.data.item, "completed");
    case "item/mcpToolCall/progress":
      return `… ${event.data.message}`;
    case "turn/plan/updated":
      return describePlan(event.data.plan);
    case "turn/completed":
      return turnLine(event.data.turn.status, event.data.turn.error?.message);
    case "approval/requested":
      return `waiting for approval of ${describeAction(event.data.approval.action)}`;
    case "approval/resolved":
      return describeResolution(event.data.resolution);
    case "question/requested":
      return `question: ${event.data.request.questions.map(({ question }) => question).join(" ")}`;
    case "error":
      return `error: ${describeError(event.data.error, event.data.willRetry)}`;
    case "warning":
      return `warning: ${event.data.message}`;
    case "model/rerouted":
      return describeReroute(event.data);
    case "thread/started":
    case "thread/settings/updated":
    case "thread/name/updated":
    case "thread/archived":
    case "thread/unarchived":
    case "thread/deleted":
    case "thread/closed":
    case "thread/status/changed":
    case "thread/session/updated":
    case "thread/reverted":
    case "thread/revert/undone":
    case "thread/queue/changed":
    case "thread/tokenUsage/updated":
    case "turn/started":
    case "turn/diff/updated":
    case "item/agentMessage/delta":
    case "item/reasoning/textDelta":
    case "item/reasoning/summaryTextDelta":
    case "item/commandExecution/outputDelta":
    case "item/fileChange/outputDelta":
    case "item/fileChange/patchUpdated":
    case "item/plan/delta":
    case "question/resolved":
    case "grant/changed":
    case "config/updated":
    case "account/login/completed":
    case "account/updated":
    case "account/limits":
    case "task/event":
    case "extension/notified":
    case "unknown":
      return undefined;
  }
}

function turnLine(status: string, problem: string | undefined): string | undefined {
  if (status === "failed") return `turn failed${problem === undefined ? "" : `: ${problem}`}`;
  return status === "interrupted" ? "turn interrupted" : undefined;
}
