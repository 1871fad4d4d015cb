import type { AgentEvent } from "../events/agent-event.ts";

// The events of a turn can arrive before the response that names it. Others in between are a replay or a turn of another
// client; only a few are kept, so memory stays bounded.
const KEPT_TURNS = 4;

/** The events of the latest turns, until the response says which turn is wanted. */
export class RecentTurns {
  readonly #turns = new Map<string, AgentEvent[]>();

  /** Keeps an event of a turn from its start; an event of the thread goes with the latest turn. */
  hold(turnId: string | undefined, event: AgentEvent): void {
    if (event.type === "turn/started") this.#begin(event.data.turn.id);
    const turn = turnId === undefined ? [...this.#turns.values()].at(-1) : this.#turns.get(turnId);
    turn?.push(event);
  }

  /** Returns the events of one turn and forgets the others. */
  take(turnId: string): readonly AgentEvent[] {
    const events = this.#turns.get(turnId) ?? [];
    this.#turns.clear();
    return events;
  }

  #begin(turnId: string): void {
    this.#turns.set(turnId, []);
    const [oldest] = this.#turns.keys();
    if (this.#turns.size > KEPT_TURNS && oldest !== undefined) this.#turns.delete(oldest);
  }
}
