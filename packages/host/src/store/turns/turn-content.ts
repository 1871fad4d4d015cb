import {
  DELTA_FIELDS,
  type EventBody,
  emptyThread,
  isDelta,
  reduceThread,
  type StoredEvent,
  type ThreadItem,
  type Turn,
} from "@flint/protocol";

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
