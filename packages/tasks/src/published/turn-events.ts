import {
  agentOfModel,
  channelOf,
  isKnownItem,
  mintId,
  type PublishedEvent,
  type TaskState,
  type Thread,
  type ThreadContext,
  type ThreadItem,
} from "@flint/protocol";
import type { AgentEvent } from "@flint/sdk";
import type { RoleName } from "../run/run-observer.ts";
import { type EventSummary, type KnownEvent, newsParts, threadStatus } from "./event-summary.ts";

/** The turns of one run, counted over both roles. */
export interface TurnCount {
  turns: number;
}

/** An agent that takes over a role. */
export interface Fallback {
  readonly failedThreadId: string | null;
  readonly model: string;
  readonly reason: string;
}

const RUN_ID_DIGITS = 10;
/** The status of a thread that is not open here. */
const NOT_OPEN = "notLoaded";

/** The events of one role in one run, each with where the role stands. */
export class TurnEvents {
  readonly #state: TaskState;
  readonly #count: TurnCount;
  #context: ThreadContext;

  constructor(state: TaskState, role: RoleName, count: TurnCount, now: number) {
    this.#state = state;
    this.#count = count;
    const model = modelOf(state, role);
    const thread = role === "executor" ? state.executorThread : undefined;
    this.#context = {
      ...{ thread_id: thread?.threadId ?? null, thread_status: NOT_OPEN, active_turn_id: null },
      ...{ last_turn_event_at: seconds(now), owner_role: role, model, provider: agentOfModel(model) },
      ...{ has_active_steer: false, turn_sequence: count.turns },
      run_id: (state.run?.runId ?? mintId()).replaceAll("-", "").slice(-RUN_ID_DIGITS),
    };
  }

  /** The thread of the role, null for an agent that could open none. */
  get threadId(): string | null {
    return this.#context.thread_id;
  }

  /** The thread in which the next turn runs; its status is reported if it was there before. */
  opened({ id, model, modelProvider, status }: Thread, isResumed: boolean, now: number): PublishedEvent[] {
    const oldStatus = this.#context.thread_status;
    this.#context = {
      ...this.#context,
      ...{ thread_id: id, thread_status: status.type, model, provider: modelProvider, active_turn_id: null },
      last_turn_event_at: seconds(now),
    };
    return isResumed ? [this.#news(threadStatus({ threadId: id, status }, oldStatus), now)] : [];
  }

  /** Converts an event of the agent; nothing for most. */
  of(event: AgentEvent, now: number): PublishedEvent[] {
    if (event.type === "unknown") return [];
    const oldStatus = this.#context.thread_status;
    this.#context = { ...this.#context, ...this.#changeOf(event), last_turn_event_at: seconds(now) };
    return newsParts(event, oldStatus).map((part) => this.#news(part, now));
  }

  /** Reports that a turn is still being worked on. */
  heartbeat(elapsedSeconds: number, now: number): PublishedEvent {
    return this.#news(["task:heartbeat", "working", { elapsed_seconds: elapsedSeconds }], now);
  }

  /** Reports that another agent will take over the role from the one that these events are about. */
  retrying({ failedThreadId, model, reason }: Fallback, now: number): PublishedEvent {
    const extra = { failed_thread_id: failedThreadId, fallback_model: model, reason };
    return this.#news(["task:execution_fallback", "retrying", extra], now);
  }

  /** Reports that the agent which took over the role has its thread. */
  tookOver({ failedThreadId, model, reason }: Fallback, now: number): PublishedEvent {
    const threads = { failed_thread_id: failedThreadId, fallback_thread_id: this.#context.thread_id };
    return this.#news(
      ["task:execution_fallback", "started", { ...threads, fallback_model: model, reason }],
      now,
    );
  }

  /** Returns the change of the role's state by an event. */
  #changeOf(event: KnownEvent): Partial<ThreadContext> {
    switch (event.type) {
      case "turn/started":
        this.#count.turns += 1;
        return {
          ...{ thread_id: event.data.threadId, active_turn_id: event.data.turn.id, thread_status: "active" },
          ...{ turn_sequence: this.#count.turns, has_active_steer: false },
        };
      case "turn/completed":
        return { active_turn_id: null, thread_status: "idle", has_active_steer: false };
      case "thread/status/changed":
        return { thread_id: event.data.threadId, thread_status: event.data.status.type };
      case "thread/settings/updated":
      case "thread/started": {
        const { model, modelProvider = agentOfModel(model) } = event.data.settings;
        return { model, provider: modelProvider };
      }
      case "model/rerouted":
        return { model: event.data.toModel };
      case "item/completed":
        // What a user says in a running turn is a steer, until the turn has ended.
        return isSteer(event.data.item, this.#state) ? { has_active_steer: true } : {};
      default:
        return {};
    }
  }

  #news([type, status, given]: EventSummary, now: number): PublishedEvent {
    const { id, spec } = this.#state;
    // Before the first turn of a run, its events belong to that turn.
    const context = { ...this.#context, turn_sequence: Math.max(1, this.#context.turn_sequence) };
    const extra = { ...given, thread_context: context };
    return {
      ...extra,
      ...{ event_id: crypto.randomUUID(), type, id, plan_id: channelOf(id, spec.channel), project: spec.cwd },
      ...{ status, source: "worker", v: 1, ts: new Date(now).toISOString(), extra },
    };
  }
}

/** The model that a role has in the task, by its agent's name if it names none. */
export function modelOf({ spec, executor, reviewer }: TaskState, role: RoleName): string {
  return (role === "executor" ? spec.executors[executor] : spec.reviewers[reviewer])?.model ?? "default";
}

function seconds(now: number): string {
  return `${new Date(now).toISOString().slice(0, 19)}Z`;
}

/** The first message of a turn has the key of the turn; others were sent while it ran. */
function isSteer(item: ThreadItem, { id }: TaskState): boolean {
  if (!isKnownItem(item) || item.type !== "userMessage") return false;
  return item.clientId === undefined || !item.clientId.startsWith(id);
}
