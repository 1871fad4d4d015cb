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

/** When a thread began and when it last worked, in unix milliseconds: a thread itself knows only seconds. */
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
 * Folds the events of a log into the state of its thread. Never throws. It keeps only the latest turn, and that
 * without its items: whoever wants them reads that turn from the end of the log, so a long turn costs no more here.
 */
export class LogFold {
  #state: ThreadState;
  #times: ThreadTimes;
  #refused = 0;

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

  /** Events that could not be folded; the state is as if they had not been there. */
  get refused(): number {
    return this.#refused;
  }

  /** Adds an event. In a damaged log, what a lost start or end of a turn would have done is made up for. */
  add(event: StoredEvent, damaged: boolean): void {
    if (event.seq <= this.#state.seq) return;
    try {
      const state = damaged ? mended(this.#state, event) : this.#state;
      this.#state = isDelta(event) ? { ...state, seq: event.seq } : withoutItems(reduceThread(state, event));
      this.#times = timesAfter(this.#times, event.type, event.at);
    } catch {
      // A record with a shape that nobody foresaw; it hides only itself.
      this.#refused += 1;
    }
  }
}

function withoutItems(state: ThreadState): ThreadState {
  const latest = state.turns.at(-1);
  if (latest === undefined || (state.turns.length === 1 && latest.items.length === 0)) return state;
  return { ...state, turns: [{ ...latest, items: [] }] };
}

/** The state that the lost events before this one must have led to. */
function mended(state: ThreadState, event: StoredEvent): ThreadState {
  const turnId = contentTurnId(event);
  if (turnId === undefined || state.turns.some((turn) => turn.id === turnId)) return state;
  const ended = state.activeTurnId === undefined ? state : reduceThread(state, lostEnd(state, event.at));
  if (event.type === "turn/started") return ended;
  const data = { threadId: state.thread.id, turn: lostTurn(turnId, event.at) };
  return reduceThread(ended, { type: "turn/started", data, at: event.at });
}

function lostEnd(state: ThreadState, at: number): ThreadEvent {
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

/** Whether events of this type make up what a turn shows. */
export function isContentType(type: string): boolean {
  return CONTENT.has(type);
}

/** The turn whose content an event is; undefined for all other events. */
export function contentTurnId({ type, data }: EventBody): string | undefined {
  if (!isContentType(type)) return undefined;
  if ("turn" in data) return data.turn.id;
  return "turnId" in data ? data.turnId : undefined;
}

/** A turn of which only later events are left, as it may have started. */
export function lostTurn(turnId: string, at: number): Turn {
  return { id: turnId, status: "inProgress", items: [], startedAtMs: at };
}

/**
 * The turn that these events of it, oldest first, make: what folding them one by one gives, in a time that grows only
 * with their number, because each item is folded by itself. A start that was lost is made up for.
 */
export function foldTurn(turnId: string, events: readonly StoredEvent[]): Turn {
  const start = events.find((event) => event.type === "turn/started");
  const end = events.findLast((event) => event.type === "turn/completed");
  const started = start?.data.turn ?? lostTurn(turnId, events[0]?.at ?? 0);
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

/** A turn after one of its events. Their order is known, so their numbers, which may be damaged, do not matter. */
function reduceTurn(turn: Turn, { seq: _seq, ...event }: StoredEvent): Turn {
  return reduceThread({ ...NO_THREAD, turns: [turn] }, event).turns[0] ?? turn;
}
