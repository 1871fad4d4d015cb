import {
  channelOf,
  type Result,
  type TaskEventBody,
  type TaskRow,
  type TaskSpec,
  taskEventOf,
} from "@flint/protocol";
import { hasEnded, taskLogLine } from "@flint/view/tasks";
import type { TaskStatus } from "./params.ts";
import { type MessageRow, type StoredSession, timestamp } from "./rows.ts";

type LoggedEvent = Result<"task/read">["events"][number];

/** The session of a task, which is its channel. */
export function sessionIdOf({ id, channel }: TaskRow): string {
  return channelOf(id, channel);
}

/** The state of a task on this wire. What waits for the user or a time counts as running; the context says so. */
export function statusOf({ phase, step, findings }: TaskRow): TaskStatus {
  switch (phase) {
    case "waiting":
      return "blocked";
    case "ready":
      return findings.some(({ state }) => state === "open") ? "rejected" : "ready";
    case "running":
      return step === "review" ? "review" : step === "merge" ? "approved" : "running";
    case "suspended":
    case "asking":
      return "running";
    case "approving":
      return "approved";
    case "done":
      return "completed";
    case "failed":
    case "cancelled":
      return phase;
  }
}

/** A task as this wire shows it. */
export function taskView(task: TaskRow) {
  const { id, number, title, cwd, thread, executor, reviewer, phase, step } = task;
  const isActive = phase === "running" && step === "execute";
  return {
    ...{ id, number, title, session_id: sessionIdOf(task), project_id: cwd, status: statusOf(task) },
    ...{
      executor,
      reviewer: reviewer ?? null,
      attempt: task.attempt,
      round: task.round,
      rounds: task.rounds,
    },
    thread_context: {
      thread_id: thread?.threadId ?? null,
      thread_status: phase === "suspended" || phase === "asking" ? phase : isActive ? "active" : "idle",
      active_turn_id: isActive ? (thread?.turnId ?? null) : null,
    },
    question: task.ask?.message ?? null,
    error: task.error ?? null,
    input_tokens: task.usage.tokens.inputTokens,
    output_tokens: task.usage.tokens.outputTokens,
    created_at: timestamp(task.addedAtMs),
    updated_at: timestamp(task.updatedAtMs),
  };
}

/** A session as this wire shows it, with a state that follows from its tasks. */
export function sessionView(
  { id, title, project_id, trigger, created_at }: StoredSession,
  tasks: readonly TaskRow[],
  lastMessage: MessageRow | undefined,
) {
  const isOver = tasks.length > 0 && tasks.every(hasEnded);
  const hasFailed = tasks.some(({ phase }) => phase === "failed");
  const changed = Math.max(...tasks.map(({ updatedAtMs }) => updatedAtMs));
  const updates = [created_at, lastMessage?.created_at ?? "", tasks.length === 0 ? "" : timestamp(changed)];
  return {
    ...{ id, project_id, title, trigger, trigger_prompt: title },
    status: tasks.length === 0 ? "open" : !isOver ? "active" : hasFailed ? "failed" : "completed",
    started_at: tasks.length === 0 ? null : timestamp(Math.min(...tasks.map(({ addedAtMs }) => addedAtMs))),
    finished_at: isOver ? timestamp(changed) : null,
    created_at,
    // These times sort as text.
    updated_at: updates.toSorted().at(-1),
  };
}

/** The log of a task, oldest first. */
export function logViews(taskId: string, spec: TaskSpec, events: readonly LoggedEvent[]) {
  return events.flatMap(({ type, data, version, at }) => {
    const event = taskEventOf(type, data);
    const message = event === undefined ? undefined : taskLogLine(event, spec);
    if (event === undefined || message === undefined) return [];
    const source = event.type === "task/logged" ? (event.data.role ?? "task") : "task";
    const row = { id: version, task_id: taskId, level: levelOf(event), message, source };
    return [{ ...row, created_at: timestamp(at) }];
  });
}

function levelOf(event: TaskEventBody): "info" | "warning" | "error" {
  if (event.type === "task/logged") return event.data.level ?? "info";
  if (event.type === "task/ended" && event.data.status === "failed") return "error";
  return event.type === "run/lost" || event.type === "task/fallback" ? "warning" : "info";
}

/** One event for each steer: what the worker of its turn said, with the time at which it was sent. */
function withAnswers(events: readonly LoggedEvent[]): LoggedEvent[] {
  const bySteer = new Map<string, LoggedEvent>();
  for (const logged of events) {
    const event = taskEventOf(logged.type, logged.data);
    if (event?.type !== "task/steered") continue;
    bySteer.set(event.data.steerId, { ...logged, at: bySteer.get(event.data.steerId)?.at ?? logged.at });
  }
  return [...bySteer.values()];
}

/** Every steer of a task, newest first: from its own log, with what the messages of its session add. */
export function steerViews(task: TaskRow, events: readonly LoggedEvent[], messages: readonly MessageRow[]) {
  const bySteer = new Map(
    messages.flatMap((message) => (message.steer_id === undefined ? [] : [[message.steer_id, message]])),
  );
  const rows = withAnswers(events).flatMap(({ type, data, at }) => {
    const event = taskEventOf(type, data);
    if (event?.type !== "task/steered") return [];
    const { steerId, by, content, live, requested = true, error = null, turn } = event.data;
    const message = bySteer.get(steerId);
    return [
      {
        ...{ id: steerId, task_id: task.id, session_id: sessionIdOf(task), message_id: message?.id ?? null },
        ...{ sender: message?.sender ?? by, recipient: message?.recipient ?? null, content, reason: null },
        metadata: message?.metadata ?? null,
        ...{ live_requested: requested, live_applied: live, live_error: error },
        thread_id: turn?.threadId ?? null,
        expected_turn_id: turn?.turnId ?? null,
        applied_turn_id: live ? (turn?.turnId ?? null) : null,
        created_at: timestamp(at),
      },
    ];
  });
  return rows.toReversed();
}
