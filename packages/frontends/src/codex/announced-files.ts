import type { Item, ThreadEvent } from "@flint/protocol";

type Asked = Extract<ThreadEvent, { type: "approval/requested" }>;

/**
 * Clients show the changes that they ask about from the item that was told before; the question itself has none on this
 * wire. Whoever came after that item, or is asked by an agent that has not told of it yet, is told of it with the
 * question.
 */
export class AnnouncedFiles {
  /** By thread, the changes of files that the client knows and that are still under way. */
  readonly #known = new Map<string, Set<string>>();

  /** What is to be told now, in this order. */
  inOrder(event: ThreadEvent): readonly ThreadEvent[] {
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

  /** The client does not follow this thread any more, or nothing is under way in it. */
  forget(threadId: string): void {
    this.#known.delete(threadId);
  }

  #startOf({ data, at }: Asked): ThreadEvent | undefined {
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
