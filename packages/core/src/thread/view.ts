import {
  DELTA_FIELDS,
  LIMITS,
  type Result,
  type Thread,
  type ThreadEvent,
  type ThreadState,
  type Turn,
} from "@flint/protocol";
import type { DeltaTarget } from "./delta-buffer.ts";

/**
 * `turn/completed` as it is sent: with all items of the turn. The log stores it without, because each item has a record
 * of its own there. A turn too large for one message is sent without its items too, and says so.
 */
export function withAllItems<Event extends ThreadEvent>(event: Event, state: ThreadState): Event {
  if (event.type !== "turn/completed" || event.data.turn.itemsView !== "notLoaded") return event;
  const turn = state.turns.findLast((known) => known.id === event.data.turn.id);
  if (turn === undefined || !fitsIn(turn.items, LIMITS.turnItems)) return event;
  return { ...event, data: { ...event.data, turn: fullTurn(turn) } };
}

/**
 * Reports whether items take no more than this many characters as JSON. Does not serialize large texts to
 * find out.
 */
function fitsIn(items: Turn["items"], limit: number): boolean {
  let room = limit;
  for (const item of items) {
    for (const value of Object.values<unknown>(item)) room -= typeof value === "string" ? value.length : 0;
    if (room < 0) return false;
  }
  return JSON.stringify(items).length <= limit;
}

/** The turn, marked as complete with all its items. */
export function fullTurn(turn: Turn): Turn {
  return { ...turn, itemsView: "full" };
}

/** The state with only its latest turn; older ones are read from the log on demand. */
export function keepLatestTurn(state: ThreadState): ThreadState {
  return state.turns.length <= 1 ? state : { ...state, turns: state.turns.slice(-1) };
}

/** The length of the text that a delta would extend. */
export function textLength(state: ThreadState, { type, turnId, itemId }: DeltaTarget): number {
  const turn = state.turns.findLast((known) => known.id === turnId);
  const item = turn?.items.findLast((known) => known.id === itemId);
  const text: unknown = item === undefined ? undefined : Reflect.get(item, DELTA_FIELDS.get(type) ?? "text");
  return typeof text === "string" ? text.length : 0;
}

/** Reports whether both are listed the same way; the status is not part of a listing. */
export function hasSameListing(left: Thread, right: Thread): boolean {
  if (left === right) return true;
  const { status: _left, ...one } = left;
  const { status: _right, ...other } = right;
  const fields = Object.entries(one);
  return (
    fields.length === Object.keys(other).length &&
    fields.every(([name, value]) => Object.is(value, Reflect.get(other, name)))
  );
}

/** Reports whether two statuses are equal: both idle, or both active and waiting for the same things. */
export function isSameStatus(left: Thread["status"], right: Thread["status"]): boolean {
  const flags = left.activeFlags ?? [];
  const others = right.activeFlags ?? [];
  return (
    left.type === right.type && flags.length === others.length && flags.every((flag) => others.includes(flag))
  );
}

/** The usage of a thread as it is reported to clients; with the latest model call if there was one. */
export function usageOf(state: ThreadState): Pick<Result<"thread/attach">, "usage" | "lastUsage" | "cost"> {
  const { usage, lastUsage, usageTurnId: turnId, modelContextWindow, cost } = state;
  const window = modelContextWindow === undefined ? {} : { modelContextWindow };
  return {
    usage,
    ...(turnId === undefined ? {} : { lastUsage: { turnId, usage: lastUsage, ...window } }),
    ...(cost === undefined ? {} : { cost }),
  };
}
