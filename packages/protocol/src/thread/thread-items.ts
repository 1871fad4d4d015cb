import type { DeltaBody } from "../events.ts";
import { DELTA_FIELDS, type Item, type ThreadItem } from "../items.ts";
import { previewOf } from "../wire/short-text.ts";
import { inputText } from "./input.ts";
import type { PlanEntry } from "./item-schemas.ts";
import type { Thread, Turn } from "./thread.ts";

/** The part of the state that items change. */
interface Conversation {
  readonly thread: Thread;
  readonly turns: readonly Turn[];
}

/** The state with an item of a turn added or replaced. The first message of the user is the preview of the thread. */
export function withItem<State extends Conversation>(state: State, turnId: string, item: ThreadItem): State {
  const changed = withTurn(state, turnId, (turn) => ({ ...turn, items: upsert(turn.items, item) }));
  if (state.thread.preview !== "" || item.type !== "userMessage" || !("content" in item)) return changed;
  return { ...changed, thread: { ...changed.thread, preview: previewOf(inputText(item.content)) } };
}

function withTurn<State extends Conversation>(
  state: State,
  turnId: string,
  change: (turn: Turn) => Turn,
): State {
  const at = state.turns.findLastIndex((turn) => turn.id === turnId);
  const turn = state.turns[at];
  return turn === undefined ? state : { ...state, turns: state.turns.with(at, change(turn)) };
}

function upsert(items: readonly ThreadItem[], item: ThreadItem): ThreadItem[] {
  const at = items.findLastIndex((other) => other.id === item.id);
  return at === -1 ? [...items, item] : items.with(at, item);
}

/** The state with a delta applied to its item. */
export function onDelta<State extends Conversation>(state: State, event: DeltaBody): State {
  const { turnId, itemId, delta, offset } = event.data;
  const field = DELTA_FIELDS.get(event.type);
  if (field === undefined) return state;
  return withTurn(state, turnId, (turn) => {
    const at = turn.items.findLastIndex((item) => item.id === itemId);
    const item = turn.items[at];
    if (item === undefined) return turn;
    const text: unknown = Reflect.get(item, field);
    const extended = appendAt(typeof text === "string" ? text : "", delta, offset);
    return { ...turn, items: turn.items.with(at, { ...item, [field]: extended }) };
  });
}

/** The state with new entries in the task list of a turn, which is one item. */
export function withPlan<State extends Conversation>(
  state: State,
  turnId: string,
  entries: readonly PlanEntry[],
): State {
  return withTurn(state, turnId, (turn) => {
    const at = turn.items.findLastIndex((item) => isTaskList(item));
    const item = turn.items[at];
    if (item === undefined) return turn;
    return { ...turn, items: turn.items.with(at, { ...item, ...planOf(entries) }) };
  });
}

/** A plan that is proposed as text has no entries. */
function isTaskList(item: ThreadItem): boolean {
  return item.type === "plan" && "entries" in item && item.entries !== undefined;
}

/** Returns the content of a plan with these entries. */
export function planOf(entries: readonly PlanEntry[]): Required<Pick<Item<"plan">, "text" | "entries">> {
  const text = entries.map(({ step }, index) => `${index + 1}. ${step}`).join("\n");
  return { text, entries: [...entries] };
}

/** Text extended by a piece that starts at `offset`; what is already there is not added twice. */
export function appendAt(text: string, piece: string, offset: number): string {
  const known = text.length - offset;
  if (known <= 0) return text + piece;
  return known >= piece.length ? text : text + piece.slice(known);
}
