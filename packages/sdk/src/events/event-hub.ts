import type { FlintConnectionError } from "../errors.ts";
import { type AgentEvent, eventThreadId } from "./agent-event.ts";

/** Somebody who is told at once, in order. What it throws becomes a warning and disturbs nobody else. */
export interface EventListener {
  /** Only events of this thread; all, if absent. */
  readonly threadId?: string | undefined;
  event(event: AgentEvent): void;
  /** There will be no more events; without an error the client was closed on purpose. Called at most once. */
  ended(error: FlintConnectionError | undefined): void;
}

/** Hands every event of a connection to those who listen, in the order in which they began to. */
export class EventHub {
  readonly #listeners = new Set<EventListener>();
  readonly #onFault: (error: unknown) => void;
  #end: { readonly error: FlintConnectionError | undefined } | undefined;

  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  /** Begins to tell, from the next event on; call the result to stop. */
  add(listener: EventListener): () => void {
    const end = this.#end;
    if (end === undefined) this.#listeners.add(listener);
    else this.#guard(() => listener.ended(end.error));
    return () => this.#listeners.delete(listener);
  }

  tell(event: AgentEvent): void {
    const threadId = eventThreadId(event);
    for (const listener of this.#listeners) {
      if (listener.threadId !== undefined && listener.threadId !== threadId) continue;
      this.#guard(() => listener.event(event));
    }
  }

  end(error: FlintConnectionError | undefined): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) this.#guard(() => listener.ended(error));
  }

  #guard(tell: () => void): void {
    try {
      tell();
    } catch (thrown) {
      // Listeners may be the caller's code; the others still have to be told.
      this.#onFault(thrown);
    }
  }
}
