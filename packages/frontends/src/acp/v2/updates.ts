import type { SessionUpdate } from "@agentclientprotocol/sdk/experimental/v2";
import { type EventData, FlintError, type PlanEntry, type Turn, totalTokens } from "@flint/protocol";
import { refusalOf } from "../errors.ts";
import { stopOf } from "../prompt/stop-reason.ts";

/** The agent is at work. */
export const RUNNING: SessionUpdate = { sessionUpdate: "state_update", state: "running" };

/** The agent waits for the user. */
export const REQUIRES_ACTION: SessionUpdate = { sessionUpdate: "state_update", state: "requires_action" };

/** The agent has ended its work, and why. */
export function idle(turn: Turn): SessionUpdate {
  const stop = stopOf(turn);
  const state = { sessionUpdate: "state_update", state: "idle" } as const;
  if (!(stop instanceof FlintError)) {
    const ended: unknown = { ...state, stopReason: stop };
    // Each stop reason is a variant of its own there; the union of them is not.
    return ended as SessionUpdate;
  }
  const { code, message, data } = refusalOf(stop);
  return { ...state, stopReason: "error", error: { code, message, data: Object(data) } };
}

/** The agent has ended work that was no turn. */
export const DONE: SessionUpdate = { sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" };

/** Nothing is at work, and nobody remembers why. */
export const IDLE: SessionUpdate = { sessionUpdate: "state_update", state: "idle" };

/** The whole plan of a turn. */
export function plan(turnId: string, steps: readonly PlanEntry[]): SessionUpdate {
  const entries = steps.map(({ step, status, priority = "medium" }) => ({
    content: status === "failed" ? `${step} (failed)` : step,
    priority,
    status: status === "inProgress" ? "in_progress" : status === "failed" ? "cancelled" : status,
  }));
  return { sessionUpdate: "plan_update", plan: { type: "items", planId: turnId, entries } };
}

/** How full the context is, and what the thread cost. A window that nobody knows has the size 0. */
export function usage(data: EventData<"thread/tokenUsage/updated">): SessionUpdate {
  const { last, modelContextWindow = 0, cost } = data;
  const told = cost === undefined ? {} : { cost: { amount: cost.amount, currency: cost.currency } };
  return { sessionUpdate: "usage_update", used: totalTokens(last), size: modelContextWindow, ...told };
}

/** Something the user should know. */
export function notice(severity: "info" | "warning" | "error", title: string): SessionUpdate {
  return { sessionUpdate: "notice", severity, title: title === "" ? "Something went wrong." : title };
}

/** The name of a session and when it was last used. */
export function info(title: string | undefined, at: number): SessionUpdate {
  const updatedAt = new Date(at).toISOString();
  return { sessionUpdate: "session_info_update", ...(title === undefined ? {} : { title }), updatedAt };
}
