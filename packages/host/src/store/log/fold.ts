import {
  DELTA_FIELDS,
  type EventBody,
  emptyThread,
  isDelta,
  reduceThread,
  type StoredEvent,
  type ThreadEvent,
  type ThreadItem,
  type ThreadState,
  type Turn,
} from "@flint/protocol";

/**
 * Times at which a thread was created and last worked, in unix milliseconds; the thread itself has only
 * seconds.
 */
export interface ThreadTimes {
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** The times after one more event. */
export function timesAfter(times: ThreadTimes, type: EventBody["type"], at: number): ThreadTimes {
  if (type === "thread/started") return { createdAtMs: at, updatedAtMs: at };
  if (type === "turn/started" || type === "turn/completed") return { ...times, updatedAtMs: at };
  return times;
}

/**
 * Folds the events of a log into the state of its thread. Never throws. The state has only the latest turn, without its
 * items, which are read from the end of the log when needed, so that a long turn costs no more here.
 */
export class LogFold {
  #state: ThreadState;
  #times: ThreadTimes;
  #rejected = 0;

  constructor(state: ThreadState, times: ThreadTimes) {
    this.#state = withoutItems(state);
    this.#times = times;
  }

  get state(): ThreadState {
    return this.#state;
  }

  get times(): ThreadTimes {
    return this.#times;
  }

  /** Number of events that could not be folded; the state is as if they were absent. */
  get rejected(): number {
    return this.#rejected;
  }

  /** Adds an event. In a damaged log, a lost start or end of a turn is reconstructed. */
  add(event: StoredEvent, damaged: boolean): void {
    if (event.seq <= this.#state.seq) return;
    try {
      const state = damaged ? repaired(this.#state, event) : this.#state;
      this.#state = isDelta(event) ? { ...state, seq: event.seq } : withoutItems(reduceThread(state, event));
      this.#times = timesAfter(this.#times, event.type, event.at);
    } catch {
      // A record of an unexpected shape; only this event is lost.
      this.#rejected += 1;
    }
  }
}

function withoutItems(state: ThreadState): ThreadState {
  const latest = state.turns.at(-1);
  if (latest === undefined || (state.turns.length === 1 && latest.items.length === 0)) return state;
  return { ...state, turns: [{ ...latest, items: [] }] };
}

/** The state before this event, with lost starts and ends of turns reconstructed. */
function repaired(state: ThreadState, event: StoredEvent): ThreadState {
  const turnId = contentTurnId(event);
  if (turnId === undefined || state.turns.some((turn) => turn.id === turnId)) return state;
  const ended =
    state.activeTurnId === undefined ? state : reduceThread(state, reconstructedEnd(state, event.at));
  if (event.type === "turn/started") return ended;
  const data = { threadId: state.thread.id, turn: reconstructedTurn(turnId, event.at) };
  return reduceThread(ended, { type: "turn/started", data, at: event.at });
}

function reconstructedEnd(state: ThreadState, at: number): ThreadEvent {
  const active = state.turns.find((turn) => turn.id === state.activeTurnId);
  const id = state.activeTurnId ?? "";
  const turn: Turn = { ...active, id, status: "interrupted", items: [], itemsView: "notLoaded" };
  return { type: "turn/completed", data: { threadId: state.thread.id, turn }, at };
}

const NO_THREAD = emptyThread("");

const CONTENT: ReadonlySet<string> = new Set([
  "turn/started",
  "turn/completed",
  "item/started",
  "item/completed",
  ...DELTA_FIELDS.keys(),
]);

/** Reports whether events of this type are the content of a turn. */
export function isContentType(type: string): boolean {
  return CONTENT.has(type);
}

/** The turn whose content an event is; undefined for all other events. */
export function contentTurnId({ type, data }: EventBody): string | undefined {
  if (!isContentType(type)) return undefined;
  if ("turn" in data) return data.turn.id;
  return "turnId" in data ? data.turnId : undefined;
}

/** The start of a turn of which only later events are left. */
export function reconstructedTurn(turnId: string, at: number): Turn {
  return { id: turnId, status: "inProgress", items: [], startedAtMs: at };
}

/**
 * Folds the events of a turn, oldest first. The result is the same as folding them one by one, but in linear time,
 * because each item is folded separately. A lost start is reconstructed.
 */
export function foldTurn(turnId: string, events: readonly StoredEvent[]): Turn {
  const start = events.find((event) => event.type === "turn/started");
  const end = events.findLast((event) => event.type === "turn/completed");
  const started = start?.data.turn ?? reconstructedTurn(turnId, events[0]?.at ?? 0);
  const turn: Turn = { ...started, items: foldItems(started, events) };
  return end === undefined ? turn : reduceTurn(turn, end);
}

function foldItems(turn: Turn, events: readonly StoredEvent[]): ThreadItem[] {
  const items = new Map(turn.items.map((item) => [item.id, item]));
  for (const event of events) {
    if (event.type === "item/started" || event.type === "item/completed") {
      items.set(event.data.item.id, event.data.item);
    } else if (isDelta(event)) {
      const item = items.get(event.data.itemId);
      const [extended] = item === undefined ? [] : reduceTurn({ ...turn, items: [item] }, event).items;
      if (extended !== undefined) items.set(extended.id, extended);
    }
  }
  return [...items.values()];
}

/** A turn after one of its events. The order is known, so the numbers, which may be damaged, are ignored. */
function reduceTurn(turn: Turn, { seq: _seq, ...event }: StoredEvent): Turn {
  return reduceThread({ ...NO_THREAD, turns: [turn] }, event).turns[0] ?? turn;
}
