import { EVENTS, type HarnessEvent, isEventType, type Result, type ThreadEvent } from "@flint/protocol";
import { events } from "./events.ts";

type LoggedEvent = Result<"thread/events/list">["events"][number];

/** The history of a thread as the messages of this wire. Events written by another version of Flint are left out. */
export function historyOf(logged: readonly LoggedEvent[]): HarnessEvent[] {
  return logged.flatMap((entry) => {
    const event = eventOf(entry);
    if (event === undefined) return [];
    return events(event).map(({ method, params }) => ({ type: method, time: event.at, ...params }));
  });
}

function eventOf({ seq, at, type, data }: LoggedEvent): ThreadEvent | undefined {
  if (!isEventType(type)) return undefined;
  const parsed = EVENTS[type].data.safeParse(data);
  if (!parsed.success) return undefined;
  const event = { seq, at, type, data: parsed.data };
  // The schema of this very name accepted the data; the union cannot follow that.
  return event as ThreadEvent;
}
