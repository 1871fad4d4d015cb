import { isKnownItem, type ThreadEvent } from "@flint/protocol";
import { isTold } from "./told-items.ts";

type Usage = Extract<ThreadEvent, { type: "thread/tokenUsage/updated" }>;

type ItemEvent = Extract<ThreadEvent, { type: "item/started" | "item/completed" }>;

/** How far a thread is since its tokens were last told. */
interface Progress {
  readonly open: ReadonlySet<string>;
  readonly hasCompleted: boolean;
  readonly held: Usage | undefined;
}

const NOTHING_YET: Progress = { open: new Set(), hasCompleted: false, held: undefined };

/**
 * Codex tells the tokens of a call when what the call brought is complete: after the message or the command, and at the
 * latest before the turn has ended. Agents report them when they know them.
 */
export class HeldUsage {
  readonly #threads = new Map<string, Progress>();

  /** What is to be told now, in this order. */
  inOrder(event: ThreadEvent): readonly ThreadEvent[] {
    switch (event.type) {
      case "thread/tokenUsage/updated":
        return this.#reported(event);
      case "item/started":
        if (isWork(event)) this.#begun(event);
        return [event];
      case "item/completed":
        return isWork(event) ? this.#completed(event) : [event];
      case "turn/completed": {
        const { held } = this.#progress(event.data.threadId);
        this.#threads.delete(event.data.threadId);
        return held === undefined ? [event] : [held, event];
      }
      default:
        return [event];
    }
  }

  #reported(usage: Usage): readonly ThreadEvent[] {
    const { threadId } = usage.data;
    const { open, hasCompleted } = this.#progress(threadId);
    const isTimely = hasCompleted && open.size === 0;
    this.#note(threadId, () => (isTimely ? { hasCompleted: false } : { held: usage }));
    return isTimely ? [usage] : [];
  }

  #begun({ data }: ItemEvent): void {
    this.#note(data.threadId, ({ open }) => ({ open: new Set([...open, data.item.id]) }));
  }

  #completed(event: ItemEvent): readonly ThreadEvent[] {
    const { threadId, item } = event.data;
    const { open, held } = this.#progress(threadId);
    const others = new Set([...open].filter((id) => id !== item.id));
    this.#note(threadId, () => ({ open: others, hasCompleted: held === undefined, held: undefined }));
    return held === undefined ? [event] : [event, held];
  }

  #progress(threadId: string): Progress {
    return this.#threads.get(threadId) ?? NOTHING_YET;
  }

  #note(threadId: string, change: (progress: Progress) => Partial<Progress>): void {
    const progress = this.#progress(threadId);
    this.#threads.set(threadId, { ...progress, ...change(progress) });
  }
}

/** What the user says is no work of the agent, and what the client does not hear of cannot be waited for. */
function isWork({ data }: ItemEvent): boolean {
  const { item } = data;
  return !isKnownItem(item) || (item.type !== "userMessage" && isTold(item));
}
