import type { DriverEvent } from "@flint/core/ports";
import { DELTA_FIELDS, ID_PATTERN, ThreadItem } from "@flint/protocol";

/**
 * What is wrong with the items of a turn, in sentences; empty when all is well. With `whole` every item that was
 * started has to be completed, as in a turn that was not stopped.
 */
export function lifecycleFaults(events: readonly DriverEvent[], whole: boolean): string[] {
  const faults: string[] = [];
  const started = new Set<string>();
  const completed = new Set<string>();
  for (const event of events) {
    const itemId = itemIdOf(event);
    if (itemId === undefined) continue;
    const say = (fault: string): unknown => faults.push(`${event.type} of item ${itemId}: ${fault}`);
    if (!ID_PATTERN.test(itemId)) say("its id is not valid");
    if ("item" in event && !ThreadItem.safeParse(event.item).success) say("it is not a valid item");
    if (event.type === "item/started") {
      if (started.has(itemId)) say("it was started before");
      started.add(itemId);
      continue;
    }
    if (!started.has(itemId)) say("it was never started");
    if (completed.has(itemId)) say("it was completed before");
    if (event.type === "item/completed") completed.add(itemId);
  }
  const open = [...started].filter((itemId) => !completed.has(itemId));
  if (whole) faults.push(...open.map((itemId) => `item ${itemId} was started and never completed`));
  return faults;
}

/** For each completed item whose text also came in pieces and differs from them, a sentence. */
export function streamFaults(events: readonly DriverEvent[]): string[] {
  const streamed = new Map<string, string>();
  const faults: string[] = [];
  for (const event of events) {
    if ("delta" in event) {
      const key = `${event.itemId} ${DELTA_FIELDS.get(event.type)}`;
      streamed.set(key, (streamed.get(key) ?? "") + event.delta);
    }
    if (event.type !== "item/completed") continue;
    for (const [key, text] of streamed) {
      const [itemId, field = ""] = key.split(" ");
      if (itemId !== event.item.id) continue;
      const final: unknown = Reflect.get(event.item, field);
      if (typeof final !== "string" || final.trim() !== text.trim()) {
        faults.push(`item ${itemId} ends with another ${field} than it streamed`);
      }
    }
  }
  return faults;
}

function itemIdOf(event: DriverEvent): string | undefined {
  if ("item" in event) return event.item.id;
  return "itemId" in event ? event.itemId : undefined;
}
