import { EVENTS, type EventBody, type EventType, isEventType, isRecord, threadIdOf } from "@flint/protocol";
import { problemOf } from "../errors.ts";

/** An event that this SDK knows. `seq` is its position in the log of its thread, `at` when it happened in unix milliseconds. */
export type KnownEvent = EventBody & { readonly seq?: number; readonly at?: number };

/** A notification that this SDK does not know: an agent's own, or one of a newer server. */
export type UnknownEvent = { readonly type: "unknown"; readonly method: string; readonly params: unknown };

/** Every event of a server, in one shape for all agents. */
export type AgentEvent = KnownEvent | UnknownEvent;

/** A notification as an event, or what is wrong with it. */
export type ReadEvent =
  | { readonly ok: true; readonly event: AgentEvent }
  | { readonly ok: false; readonly problem: string };

/** Reads a notification. An unknown method is an event too; only a known one can be wrong. */
export function readNotification(method: string, params: unknown): ReadEvent {
  if (!isEventType(method)) return { ok: true, event: { type: "unknown", method, params } };
  if (!isRecord(params)) return { ok: false, problem: "params must be an object" };
  const { seq, at, ...data } = params;
  const parsed = EVENTS[method].data.safeParse(data);
  if (!parsed.success) return { ok: false, problem: problemOf(parsed.error) };
  return { ok: true, event: knownEvent(method, parsed.data, seq, at) };
}

/** The thread that an event belongs to; undefined if it concerns the whole server. */
export function eventThreadId(event: AgentEvent): string | undefined {
  return event.type === "unknown" ? fieldOf(event.params, "threadId") : threadIdOf(event);
}

/** The turn that an event belongs to; undefined if it concerns its thread. */
export function eventTurnId(event: AgentEvent): string | undefined {
  switch (event.type) {
    case "unknown":
      return fieldOf(event.params, "turnId");
    case "turn/started":
    case "turn/completed":
      return event.data.turn.id;
    case "approval/requested":
      return event.data.approval.turnId;
    case "question/requested":
    case "tool/requested":
      return event.data.request.turnId;
    default:
      return fieldOf(event.data, "turnId");
  }
}

function knownEvent(type: EventType, data: unknown, seq: unknown, at: unknown): KnownEvent {
  const position = {
    ...(typeof seq === "number" ? { seq } : {}),
    ...(typeof at === "number" ? { at } : {}),
  };
  // The schema of exactly this type has parsed the data; the union cannot follow a computed type.
  return { type, data, ...position } as KnownEvent;
}

function fieldOf(value: unknown, name: "threadId" | "turnId"): string | undefined {
  const field = isRecord(value) ? value[name] : undefined;
  return typeof field === "string" ? field : undefined;
}
