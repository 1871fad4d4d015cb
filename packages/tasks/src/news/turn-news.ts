import { isKnownItem, type KnownItem, mintId, type TaskState, type ThreadItem } from "@flint/protocol";
import type { AgentEvent } from "@flint/sdk";

/** The names of the events that other programs read about tasks. */
export const NEWS_TYPES = [
  "task:turn",
  "task:item_started",
  "task:item_completed",
  "task:plan_updated",
  "task:turn_diff",
  "task:token_usage",
  "task:thread_status",
  "task:model_rerouted",
  "task:backend_error",
  "task:backend_warning",
  "task:execution_fallback",
  "task:heartbeat",
  "session:message",
] as const;

/** The name of such an event. */
export type NewsType = (typeof NEWS_TYPES)[number];

/** Where a turn stands. All ten fields are there in every event; null is what is not known yet. */
export interface ThreadContext {
  readonly thread_id: string | null;
  readonly thread_status: string | null;
  readonly active_turn_id: string | null;
  readonly last_turn_event_at: string | null;
  readonly owner_role: "executor" | "reviewer";
  readonly model: string | null;
  readonly provider: string | null;
  readonly has_active_steer: boolean;
  readonly run_id: string;
  readonly turn_sequence: number;
}

/** An event as readers of the stream get it. What is in `extra` is at the top level too: there are readers of both. */
export interface News {
  readonly event_id: string;
  readonly type: NewsType;
  readonly id: string;
  readonly plan_id: string | null;
  readonly project: string;
  readonly status: string;
  readonly source: "worker" | "cli";
  readonly v: 1;
  readonly ts: string;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly [name: string]: unknown;
}

/** What one event of a turn becomes: a name, a status and what belongs to it. */
type Part = readonly [NewsType, string, Readonly<Record<string, unknown>>];

const MAX_TEXT = 500;
const RUN_ID_DIGITS = 10;

/** The events of one role's turns in one run. Text and output as they stream are not among them. */
export class TurnNews {
  readonly #state: TaskState;
  #context: ThreadContext;
  #lastStatus: string | null = null;

  constructor(state: TaskState, role: "executor" | "reviewer") {
    this.#state = state;
    const { spec, executor, reviewer, run } = state;
    const model = (role === "executor" ? spec.executors[executor] : spec.reviewers[reviewer])?.model;
    this.#context = {
      ...{ thread_id: null, thread_status: null, active_turn_id: null, last_turn_event_at: null },
      ...{ owner_role: role, model: model ?? null, provider: model?.split("/")[0] ?? null },
      ...{ has_active_steer: false, turn_sequence: 0 },
      run_id: (run?.runId ?? mintId()).replaceAll("-", "").slice(-RUN_ID_DIGITS),
    };
  }

  /** What an event of the agent becomes; nothing for most. */
  of(event: AgentEvent, now: number): News[] {
    if (event.type === "unknown") return [];
    this.#follow(event, now);
    return partsOf(event, this.#lastStatus).map((part) => this.#news(part, now));
  }

  /** That a turn is still being worked on. */
  heartbeat(elapsedSeconds: number, now: number): News {
    return this.#news(["task:heartbeat", "working", { elapsed_seconds: elapsedSeconds }], now);
  }

  /** That another agent takes over the role. */
  fallback(model: string, reason: string, now: number): News {
    const extra = { failed_thread_id: this.#context.thread_id, fallback_model: model, reason };
    return this.#news(["task:execution_fallback", "retrying", extra], now);
  }

  #follow(event: Exclude<AgentEvent, { type: "unknown" }>, now: number): void {
    const at = `${new Date(now).toISOString().slice(0, 19)}Z`;
    const context = this.#context;
    switch (event.type) {
      case "turn/started":
        this.#context = {
          ...context,
          ...{ thread_id: event.data.threadId, active_turn_id: event.data.turn.id, last_turn_event_at: at },
          ...{ thread_status: "active", turn_sequence: context.turn_sequence + 1, has_active_steer: false },
        };
        break;
      case "turn/completed":
        this.#context = {
          ...context,
          ...{ active_turn_id: null, last_turn_event_at: at, thread_status: "idle", has_active_steer: false },
        };
        break;
      case "thread/status/changed":
        this.#lastStatus = context.thread_status;
        this.#context = {
          ...context,
          ...{
            thread_id: event.data.threadId,
            thread_status: event.data.status.type,
            last_turn_event_at: at,
          },
        };
        break;
      case "thread/settings/updated":
      case "thread/started": {
        const { model } = event.data.settings;
        this.#context = { ...context, model, provider: model.split("/")[0] ?? null };
        break;
      }
      case "model/rerouted":
        this.#context = { ...context, model: event.data.toModel, last_turn_event_at: at };
        break;
      case "item/completed":
        // What a user says in a running turn is a steer, until the turn has ended.
        this.#context = {
          ...context,
          last_turn_event_at: at,
          has_active_steer: context.has_active_steer || isSteer(event.data.item, this.#state),
        };
        break;
      default:
        this.#context = { ...context, last_turn_event_at: at };
    }
  }

  #news([type, status, given]: Part, now: number): News {
    const { id, spec } = this.#state;
    const extra = { ...given, thread_context: this.#context };
    return {
      ...extra,
      ...{
        event_id: crypto.randomUUID(),
        type,
        id,
        plan_id: spec.channel ?? null,
        project: spec.cwd,
        status,
      },
      ...{ source: "worker", v: 1, ts: new Date(now).toISOString(), extra },
    };
  }
}

/** The first message of a turn has the key of the turn; others were sent while it ran. */
function isSteer(item: ThreadItem, { id }: TaskState): boolean {
  if (!isKnownItem(item) || item.type !== "userMessage") return false;
  return item.clientId === undefined || !item.clientId.startsWith(id);
}

function partsOf(event: Exclude<AgentEvent, { type: "unknown" }>, oldStatus: string | null): Part[] {
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
    case "thread/status/changed": {
      const { threadId, status } = event.data;
      const extra = { thread_id: threadId, old_status: oldStatus, new_status: status.type };
      return [["task:thread_status", status.type, { ...extra, notification: event.data }]];
    }
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

const bounded = (text: string | undefined) =>
  text === undefined || text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`;

/** What an item is about, with bounded text and without its output. */
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
      return { files: item.changes.map(({ path }) => path).slice(0, 200), status: item.status };
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
    default:
      return {};
  }
}
