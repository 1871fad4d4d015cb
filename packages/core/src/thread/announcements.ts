import type { EventType, ThreadEvent } from "@flint/protocol";

/** The events that clients get of all threads: those that change how a thread is listed, and those about accounts. */
const LISTED_EVENTS: ReadonlySet<EventType> = new Set<EventType>([
  "thread/status/changed",
  "thread/name/updated",
  "thread/archived",
  "thread/unarchived",
  "thread/deleted",
  "thread/closed",
  "account/limits",
]);

/** Receives the announcements of all threads. */
export interface Listener {
  announce(event: ThreadEvent): void;
}

/** Publishes changes of the list of threads to all clients that requested them, whether or not they are subscribed. */
export class Announcements {
  readonly #listeners = new Set<Listener>();

  add(listener: Listener): void {
    this.#listeners.add(listener);
  }

  remove(listener: Listener): void {
    this.#listeners.delete(listener);
  }

  /** Publishes an event of any thread if it concerns more than the thread itself. */
  publishIfListed(event: ThreadEvent): void {
    if (this.#listeners.size > 0 && LISTED_EVENTS.has(event.type)) this.publish(event);
  }

  /** Publishes an event to all listeners. One that fails is removed and does not disturb the others. */
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
