import type { EventBody, EventType, ThreadEvent } from "@flint/protocol";

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

/** The events that name the client that asked for them. */
const NAMED: ReadonlySet<EventType> = new Set<EventType>([
  "thread/settings/updated",
  "thread/name/updated",
  "thread/goal/updated",
  "thread/goal/cleared",
  "thread/archived",
  "thread/unarchived",
  "thread/deleted",
  "thread/reverted",
  "thread/revert/undone",
  "thread/queue/changed",
]);

/** The event with the name of the client that asked for it, where other clients should be able to tell. */
export function withClientName(event: EventBody, client: string | undefined): EventBody {
  if (client === undefined || !NAMED.has(event.type)) return event;
  // Each event of these types may have the name, which their union does not express.
  return { ...event, data: { ...event.data, client } } as EventBody;
}
