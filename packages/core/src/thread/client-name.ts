import type { EventBody, EventType } from "@flint/protocol";

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
]);

/** The event with the name of the client that asked for it, where other clients should be able to tell. */
export function withClientName(event: EventBody, client: string | undefined): EventBody {
  if (client === undefined || !NAMED.has(event.type)) return event;
  // Each event of these types may have the name, which their union does not express.
  return { ...event, data: { ...event.data, client } } as EventBody;
}
