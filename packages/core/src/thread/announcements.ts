import type { EventType, ThreadEvent } from "@flint/protocol";

/** What clients may want to know about threads that they do not follow: enough to keep a list of them true. */
const ANNOUNCED: ReadonlySet<EventType> = new Set<EventType>([
  "thread/status/changed",
  "thread/name/updated",
  "thread/archived",
  "thread/unarchived",
  "thread/deleted",
  "thread/closed",
]);

/** Somebody who hears of all threads. */
export interface Listener {
  announce(event: ThreadEvent): void;
}

/** Tells everybody who listens what changes the list of threads, whoever follows them. */
export class Announcements {
  readonly #listeners = new Set<Listener>();

  add(listener: Listener): void {
    this.#listeners.add(listener);
  }

  remove(listener: Listener): void {
    this.#listeners.delete(listener);
  }

  /** Tells all listeners of an event of any thread, if it is one of those that concern a list. */
  publishIfListed(event: ThreadEvent): void {
    if (this.#listeners.size > 0 && ANNOUNCED.has(event.type)) this.publish(event);
  }

  /** Tells all listeners. One that cannot be told anything does not disturb the others. */
  publish(event: ThreadEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener.announce(event);
      } catch {
        this.#listeners.delete(listener);
      }
    }
  }
}
