import { EVENTS, type HarnessEvent, isEventType, type Result, type ThreadEvent } from "@flint/protocol";
import { outbound } from "./outbound.ts";

type LoggedEvent = Result<"thread/events/list">["events"][number];

/** The past of a thread as this wire told it, or would have. What another version of Flint wrote is left out. */
export function historyOf(events: readonly LoggedEvent[]): HarnessEvent[] {
  return events.flatMap((logged) => {
    const event = eventOf(logged);
    if (event === undefined) return [];
    return outbound(event).map(({ method, params }) => ({ type: method, time: event.at, ...params }));
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
