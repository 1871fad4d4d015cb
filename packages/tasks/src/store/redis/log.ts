import type { TaskEvent } from "@flint/protocol";
import type { Redis } from "ioredis";
import { readStoredEvent } from "../stored-event.ts";
import type { TaskKeys } from "./keys.ts";

/** An entry of a stream: its id, and names and values in turn. */
export type StreamEntry = readonly [string, readonly string[]];

/** The events of a task after a version. What cannot be read ends the list: nothing after it can be trusted. */
export async function readLog(
  redis: Redis,
  keys: TaskKeys,
  task: string,
  after: number,
): Promise<readonly TaskEvent[]> {
  return eventsOf(await redis.xrange(keys.log(task), `${after + 1}-0`, "+"));
}

/** The events in entries of a task's log. */
export function eventsOf(entries: readonly StreamEntry[]): TaskEvent[] {
  const events: TaskEvent[] = [];
  for (const [id, fields] of entries) {
    const event = eventOf(field(fields, "body"), Number(id.split("-")[0]), Number(field(fields, "at")));
    if (event === undefined) break;
    events.push(event);
  }
  return events;
}

/** The value of a field of an entry. */
export function field(fields: readonly string[], name: string): string {
  const index = fields.findIndex((text, at) => at % 2 === 0 && text === name);
  return index === -1 ? "" : (fields[index + 1] ?? "");
}

function eventOf(body: string, version: number, at: number): TaskEvent | undefined {
  // Expected: whatever others wrote under this key.
  try {
    return readStoredEvent({ ...JSON.parse(body), version, at });
  } catch {
    return undefined;
  }
}

/** The events in an entry of the feed; undefined if the task has to be read again instead. */
export function feedEvents(fields: readonly string[]): TaskEvent[] | undefined {
  const [version, at] = [Number(field(fields, "version")), Number(field(fields, "at"))];
  // Expected: as above.
  try {
    const bodies: unknown = JSON.parse(field(fields, "bodies"));
    if (!Array.isArray(bodies) || bodies.length === 0) return undefined;
    const events = bodies.map((body, index) =>
      readStoredEvent({ ...body, version: version + 1 + index, at }),
    );
    return events.every((event) => event !== undefined) ? events : undefined;
  } catch {
    return undefined;
  }
}
