import type { AgentEvent } from "./agent-event.ts";

// The events of a turn can be here before the one who asked has seen the answer that names it. Others in between are
// a replay, or the next turn of somebody else; a few are kept, so that memory stays small.
const KEPT_TURNS = 4;

/** The events of the latest turns, until it is known which turn is meant. */
export class HeldTurns {
  readonly #turns = new Map<string, AgentEvent[]>();

  /** Keeps an event of a turn from its start on; one of the thread goes with the turn it came in. */
  hold(turnId: string | undefined, event: AgentEvent): void {
    if (event.type === "turn/started") this.#begin(event.data.turn.id);
    const turn = turnId === undefined ? [...this.#turns.values()].at(-1) : this.#turns.get(turnId);
    turn?.push(event);
  }

  /** Gives the events of one turn and forgets all others. */
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
