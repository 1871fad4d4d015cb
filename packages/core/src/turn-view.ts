import { LIMITS, type ThreadEvent, type ThreadState, type Turn } from "@flint/protocol";

/**
 * `turn/completed` as it is told: with all items of the turn. The log keeps it without, because each item has a
 * record of its own there; and a turn too large for one message is told without them too, and says so.
 */
export function withAllItems<Event extends ThreadEvent>(event: Event, state: ThreadState): Event {
  if (event.type !== "turn/completed" || event.data.turn.itemsView !== "notLoaded") return event;
  const turn = state.turns.findLast((known) => known.id === event.data.turn.id);
  if (turn === undefined || JSON.stringify(turn.items).length > LIMITS.turnItems) return event;
  return { ...event, data: { ...event.data, turn: fullTurn(turn) } };
}

/** A turn with the note that its items are all there. */
export function fullTurn(turn: Turn): Turn {
  return { ...turn, itemsView: "full" };
}

/** The state with only its latest turn: older ones are read from the log when somebody asks. */
export function keepLatestTurn(state: ThreadState): ThreadState {
  return state.turns.length <= 1 ? state : { ...state, turns: state.turns.slice(-1) };
}
