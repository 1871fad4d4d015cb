import { isKnownItem, type KnownItem, type PlanEntry, previewOf, type ThreadItem } from "@flint/protocol";
import { actionText } from "../client/read-ask.ts";
import type { AgentEvent } from "./agent-event.ts";

/**
 * One line about an event, for a channel that shows what an agent does; undefined for what is not worth a line, such
 * as streamed text and the answer itself. Pure; the line has no control characters and at most 160 characters.
 */
export function describeEvent(event: AgentEvent): string | undefined {
  const text = lineOf(event);
  // Escape sequences in a file name or an output must not reach a terminal.
  return text === undefined ? undefined : previewOf(text.replace(/\p{Cc}+/gu, " "));
}

function lineOf(event: AgentEvent): string | undefined {
  switch (event.type) {
    case "item/started":
      return startedLine(event.data.item);
    case "item/completed":
      return completedLine(event.data.item);
    case "item/mcpToolCall/progress":
      return `… ${event.data.message}`;
    case "turn/plan/updated":
      return planLine(event.data.plan);
    case "turn/completed":
      return turnLine(event.data.turn.status, event.data.turn.error?.message);
    case "approval/requested":
      return `waiting for approval of ${actionText(event.data.approval.action)}`;
    case "approval/resolved":
      return event.data.resolution.decision.outcome === "allow" ? "approved" : "not approved";
    case "question/requested":
      return `question: ${event.data.request.questions.map(({ question }) => question).join(" ")}`;
    case "error":
      return `error: ${event.data.error.message}${event.data.willRetry ? " (trying again)" : ""}`;
    case "warning":
      return `warning: ${event.data.message}`;
    case "model/rerouted":
      return `${event.data.toModel} works instead of ${event.data.fromModel}: ${event.data.reason}`;
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
    case "item/plan/delta":
    case "question/resolved":
    case "config/updated":
    case "extension/notified":
    case "unknown":
      return undefined;
  }
}

function startedLine(item: ThreadItem): string | undefined {
  if (!isKnownItem(item)) return unknownLine(item);
  switch (item.type) {
    case "commandExecution":
    case "fileChange":
    case "mcpToolCall":
    case "toolCall":
      return `${subjectOf(item)} …`;
    case "webSearch":
      return `search "${item.query}"`;
    case "enteredReviewMode":
      return `review: ${item.review}`;
    case "userMessage":
    case "agentMessage":
    case "reasoning":
    case "plan":
    case "exitedReviewMode":
    case "contextCompaction":
    case "agentHandoff":
      return undefined;
  }
}

function completedLine(item: ThreadItem): string | undefined {
  if (!isKnownItem(item)) return undefined;
  switch (item.type) {
    case "commandExecution":
      return `${subjectOf(item)} … ${item.exitCode === undefined ? item.status : `exit ${item.exitCode}`}`;
    case "fileChange":
      return `${subjectOf(item)} … ${item.status}`;
    case "mcpToolCall":
    case "toolCall":
      return `${subjectOf(item)} … ${item.status}${item.error === undefined ? "" : `: ${item.error}`}`;
    case "plan":
      return item.entries === undefined ? undefined : planLine(item.entries);
    case "contextCompaction":
      return "context summarised";
    case "agentHandoff":
      return `${item.toAgent} goes on in place of ${item.fromAgent}`;
    case "exitedReviewMode":
      return "review finished";
    case "userMessage":
    case "agentMessage":
    case "reasoning":
    case "webSearch":
    case "enteredReviewMode":
      return undefined;
  }
}

type Work = Extract<KnownItem, { type: "commandExecution" | "fileChange" | "mcpToolCall" | "toolCall" }>;

function subjectOf(item: Work): string {
  switch (item.type) {
    case "commandExecution":
      return `$ ${previewOf(item.command).slice(0, 100)}`;
    case "fileChange":
      return filesLine(item.changes.map((change) => `${change.kind} ${change.path}`));
    case "mcpToolCall":
      return `${item.server}.${item.tool}`;
    case "toolCall":
      return item.title ?? item.tool;
  }
}

function filesLine(files: readonly string[]): string {
  const [first = "no files"] = files;
  return files.length < 2 ? first : `${first} and ${files.length - 1} more`;
}

/** What nobody knows is shown as a tool call: its name, its id, and whatever text it has. */
function unknownLine(item: ThreadItem): string {
  const texts = Object.entries(item).filter(([name, value]) => {
    return name !== "type" && name !== "id" && typeof value === "string";
  });
  return [`${item.type} ${item.id}`, ...texts.map(([, text]) => String(text))].join(" ");
}

function planLine(plan: readonly PlanEntry[]): string {
  const done = plan.filter((entry) => entry.status === "completed").length;
  const current = plan.find((entry) => entry.status === "inProgress");
  return `plan: ${done} of ${plan.length} done${current === undefined ? "" : `, now ${current.step}`}`;
}

function turnLine(status: string, problem: string | undefined): string | undefined {
  if (status === "failed") return `turn failed${problem === undefined ? "" : `: ${problem}`}`;
  return status === "interrupted" ? "turn interrupted" : undefined;
}
