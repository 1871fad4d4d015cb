import {
  type EventData,
  isKnownItem,
  type KnownItem,
  type PublishedEventType,
  shortened,
  type ThreadItem,
} from "@flint/protocol";
import type { AgentEvent } from "@flint/sdk";

/** The summary of one event of a turn: a name, a status and the values that belong to it. */
export type EventSummary = readonly [PublishedEventType, string, Readonly<Record<string, unknown>>];

/** An event whose name is known. */
export type KnownEvent = Exclude<AgentEvent, { type: "unknown" }>;

const MAX_TEXT = 500;
const MAX_FILES = 200;

/**
 * Summarizes an event of an agent for other programs; nothing for most, and never text or output as it
 * streams.
 */
export function newsParts(event: KnownEvent, oldStatus: string): EventSummary[] {
  switch (event.type) {
    case "turn/started":
    case "turn/completed": {
      const { id, status, error } = event.data.turn;
      const more = error === undefined ? {} : { error: error.message };
      const what = event.type === "turn/started" ? "started" : "completed";
      return [["task:turn", what, { turn_id: id, turn_status: status, ...more }]];
    }
    case "item/started":
      return [["task:item_started", event.data.item.type, summaryOf(event.data.item)]];
    case "item/completed":
      return [["task:item_completed", event.data.item.type, summaryOf(event.data.item)]];
    case "turn/plan/updated": {
      const steps = event.data.plan.map(({ step, status }) => ({ step, status }));
      return [["task:plan_updated", "plan", { steps }]];
    }
    case "turn/diff/updated": {
      const { diff } = event.data;
      const files = diff.split("\n").filter((line) => line.startsWith("diff --git ")).length;
      return [["task:turn_diff", "updated", { diff_bytes: Buffer.byteLength(diff), diff_files: files }]];
    }
    case "thread/tokenUsage/updated": {
      const { inputTokens, outputTokens, cacheReadTokens = 0, thinkingTokens = 0 } = event.data.last;
      const used = { input: inputTokens, output: outputTokens };
      const more = { cached_input: cacheReadTokens, reasoning: thinkingTokens };
      return [["task:token_usage", "updated", { ...used, ...more }]];
    }
    case "thread/status/changed":
      return [threadStatus(event.data, oldStatus)];
    case "model/rerouted":
      return [["task:model_rerouted", "updated", { notification: event.data }]];
    case "error":
      return [["task:backend_error", "error", { notification: event.data }]];
    case "warning": {
      const { message, reason } = event.data;
      const status = reason === "deprecation" ? "deprecation" : "config";
      return reason === "deprecation" || reason === "configuration"
        ? [["task:backend_warning", status, { message }]]
        : [];
    }
    default:
      return [];
  }
}

/** Summarizes a change of a thread's status. */
export function threadStatus(
  notification: EventData<"thread/status/changed">,
  oldStatus: string,
): EventSummary {
  const { threadId, status } = notification;
  const extra = { thread_id: threadId, old_status: oldStatus, new_status: status.type, notification };
  return ["task:thread_status", status.type, extra];
}

const bounded = (text: string | undefined) => (text === undefined ? undefined : shortened(text, MAX_TEXT));

/** Summarizes an item, with bounded text and without its output. */
function summaryOf(item: ThreadItem): Record<string, unknown> {
  const summary = isKnownItem(item) ? knownSummary(item) : {};
  const entries = Object.entries({ item_type: item.type, ...summary });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function knownSummary(item: KnownItem): Record<string, unknown> {
  switch (item.type) {
    case "commandExecution":
      return {
        ...{ command: bounded(item.command), status: item.status, exit_code: item.exitCode },
        duration_ms: item.durationMs,
        command_actions: item.commandActions?.map(({ type }) => ({ type })),
      };
    case "fileChange":
      return { files: item.changes.map(({ path }) => path).slice(0, MAX_FILES), status: item.status };
    case "mcpToolCall":
      return { server: item.server, tool: item.tool, status: item.status, duration_ms: item.durationMs };
    case "toolCall":
      return { tool: item.tool, status: item.status, duration_ms: item.durationMs };
    case "webSearch":
      return { query: bounded(item.query) };
    case "reasoning":
      return { reasoning: bounded(item.summary ?? item.content) };
    case "agentMessage":
    case "subAgentMessage":
    case "plan":
      return { text: bounded(item.text) };
    case "userMessage":
    case "hookRun":
    case "enteredReviewMode":
    case "exitedReviewMode":
    case "contextCompaction":
    case "agentHandoff":
      return {};
  }
}
