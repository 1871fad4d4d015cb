import type { Item, ThreadEvent } from "@flint/protocol";
import type { Stage } from "./stage.ts";

type Requested = Extract<ThreadEvent, { type: "approval/requested" }>;

/**
 * A file change is started before a client is asked about it. Clients show the change from the item, because the request
 * has none on this wire. A client that subscribed after the item started, or is asked by an agent that has not reported
 * the item yet, is sent its start with the request.
 */
export class FileChangeOrder implements Stage<ThreadEvent> {
  /** By thread, the file changes that the client knows and that are in progress. */
  readonly #known = new Map<string, Set<string>>();

  pass(event: ThreadEvent): readonly ThreadEvent[] {
    switch (event.type) {
      case "item/started":
        if (event.data.item.type !== "fileChange") return [event];
        return this.#isNew(event.data.threadId, event.data.item.id) ? [event] : [];
      case "item/completed":
        this.#known.get(event.data.threadId)?.delete(event.data.item.id);
        return [event];
      case "approval/requested": {
        const started = this.#startOf(event);
        return started === undefined ? [event] : [started, event];
      }
      case "turn/completed":
        this.forget(event.data.threadId);
        return [event];
      default:
        return [event];
    }
  }

  forget(threadId?: string): void {
    if (threadId === undefined) this.#known.clear();
    else this.#known.delete(threadId);
  }

  #startOf({ data, at }: Requested): ThreadEvent | undefined {
    const { threadId, approval } = data;
    const { action, turnId } = approval;
    if (action.kind !== "fileChange" || !this.#isNew(threadId, action.itemId)) return undefined;
    const { changes, itemId: id } = action;
    const item: Item<"fileChange"> = { type: "fileChange", id, changes, status: "inProgress" };
    return { type: "item/started", data: { threadId, turnId, item }, at };
  }

  #isNew(threadId: string, itemId: string): boolean {
    const known = this.#known.get(threadId) ?? new Set();
    const isNew = !known.has(itemId);
    this.#known.set(threadId, known.add(itemId));
    return isNew;
  }
}
