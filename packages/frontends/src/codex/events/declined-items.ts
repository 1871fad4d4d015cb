import { isKnownItem, type ThreadEvent } from "@flint/protocol";

/** Items that are remembered; the oldest is forgotten first. */
const MOST_ITEMS = 1_000;

/**
 * Shows items that were not approved as declined, as Codex does. In Flint, an item whose turn was interrupted by the
 * answer has failed.
 */
export class DeclinedItems {
  readonly #ids = new Set<string>();

  /** The event as clients are shown it. */
  apply(event: ThreadEvent): ThreadEvent {
    if (event.type === "approval/resolved" && event.data.resolution.decision.outcome !== "allow") {
      this.#add(event.data.itemId);
    }
    if (event.type !== "item/completed" || !this.#ids.has(event.data.item.id)) return event;
    const { item } = event.data;
    if (!isKnownItem(item)) return event;
    if (item.type !== "commandExecution" && item.type !== "fileChange") return event;
    if (item.status !== "failed") return event;
    return { ...event, data: { ...event.data, item: { ...item, status: "declined" } } };
  }

  #add(id: string): void {
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > MOST_ITEMS && oldest !== undefined) this.#ids.delete(oldest);
  }
}
