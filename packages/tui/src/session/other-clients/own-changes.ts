import type { EventBody, EventType } from "@flint/protocol";

/** The event of a change comes with the answer of the server, or right behind it. */
const BEHIND_MS = 500;

/** A turn that is interrupted ends once its agent has stopped. */
export const STOPPING_MS = 10_000;

/** Tells the changes that this session asks for from those that other clients make. */
export class OwnChanges {
  readonly #now: () => number;
  #asked: { readonly type: EventType; until: number }[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Asks for a change, of which the thread says so with an event of this type. */
  ask<Value>(type: EventType, call: () => Promise<Value>, withinMs = BEHIND_MS): Promise<Value> {
    const asked = { type, until: Number.POSITIVE_INFINITY };
    this.#asked.push(asked);
    return call().finally(() => {
      asked.until = this.#now() + withinMs;
    });
  }

  /** Reports whether an event is about a change that was asked for here. Each change has one event. */
  takes({ type }: EventBody): boolean {
    this.#asked = this.#asked.filter(({ until }) => until >= this.#now());
    const at = this.#asked.findIndex((asked) => asked.type === type);
    if (at !== -1) this.#asked.splice(at, 1);
    return at !== -1;
  }
}
