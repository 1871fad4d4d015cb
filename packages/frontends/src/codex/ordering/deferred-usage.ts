import { isKnownItem, type ThreadEvent } from "@flint/protocol";
import { isShown } from "../events/items.ts";
import type { Stage } from "./stage.ts";

type Usage = Extract<ThreadEvent, { type: "thread/tokenUsage/updated" }>;

type ItemEvent = Extract<ThreadEvent, { type: "item/started" | "item/completed" }>;

/** What has happened in a thread since its usage was last sent. */
interface Progress {
  readonly open: ReadonlySet<string>;
  readonly hasCompleted: boolean;
  readonly deferred: Usage | undefined;
}

const NO_PROGRESS: Progress = { open: new Set(), hasCompleted: false, deferred: undefined };

/**
 * Token usage comes after the item that it paid for, and at the latest before the turn completes, as in Codex. Agents
 * report it when they know it.
 */
export class DeferredUsage implements Stage<ThreadEvent> {
  readonly #threads = new Map<string, Progress>();

  pass(event: ThreadEvent): readonly ThreadEvent[] {
    switch (event.type) {
      case "thread/tokenUsage/updated":
        return this.#reported(event);
      case "item/started":
        if (isWork(event)) this.#started(event);
        return [event];
      case "item/completed":
        return isWork(event) ? this.#completed(event) : [event];
      case "turn/completed": {
        const { deferred } = this.#progress(event.data.threadId);
        this.#threads.delete(event.data.threadId);
        return deferred === undefined ? [event] : [deferred, event];
      }
      default:
        return [event];
    }
  }

  forget(threadId?: string): void {
    if (threadId === undefined) this.#threads.clear();
    else this.#threads.delete(threadId);
  }

  #reported(usage: Usage): readonly ThreadEvent[] {
    const { threadId } = usage.data;
    const { open, hasCompleted } = this.#progress(threadId);
    const isTimely = hasCompleted && open.size === 0;
    this.#update(threadId, () => (isTimely ? { hasCompleted: false } : { deferred: usage }));
    return isTimely ? [usage] : [];
  }

  #started({ data }: ItemEvent): void {
    this.#update(data.threadId, ({ open }) => ({ open: new Set([...open, data.item.id]) }));
  }

  #completed(event: ItemEvent): readonly ThreadEvent[] {
    const { threadId, item } = event.data;
    const { open, deferred } = this.#progress(threadId);
    const others = new Set([...open].filter((id) => id !== item.id));
    this.#update(threadId, () => ({
      open: others,
      hasCompleted: deferred === undefined,
      deferred: undefined,
    }));
    return deferred === undefined ? [event] : [event, deferred];
  }

  #progress(threadId: string): Progress {
    return this.#threads.get(threadId) ?? NO_PROGRESS;
  }

  #update(threadId: string, change: (progress: Progress) => Partial<Progress>): void {
    const progress = this.#progress(threadId);
    this.#threads.set(threadId, { ...progress, ...change(progress) });
  }
}

/** A user's message is not work of the agent, and an item that is not shown cannot be waited for. */
function isWork({ data }: ItemEvent): boolean {
  const { item } = data;
  return !isKnownItem(item) || (item.type !== "userMessage" && isShown(item));
}
