import type { ThreadEvent, ThreadStatus } from "@flint/protocol";

type Started = Extract<ThreadEvent, { type: "item/started" }>;

/** As long as an agent may take to ask about a command that it has just told of. */
const ASKED_WITHIN_MS = 20;

/**
 * Codex says that a thread waits before it tells of the command that it waits for. Agents tell of the command first; so
 * it is held back until it is clear whether somebody is asked.
 */
export class HeldStart {
  readonly #late: (event: ThreadEvent) => void;
  readonly #held = new Map<string, { readonly event: Started; readonly timer: NodeJS.Timeout }>();

  /** `late` tells of a command that nobody was asked about. */
  constructor(late: (event: ThreadEvent) => void) {
    this.#late = late;
  }

  /** What is to be told now, in this order. */
  inOrder(event: ThreadEvent, threadId: string | undefined): readonly ThreadEvent[] {
    if (threadId === undefined) return [event];
    const held = this.#take(threadId);
    if (event.type === "item/started" && event.data.item.type === "commandExecution") {
      this.#hold(threadId, event);
      return held === undefined ? [] : [held];
    }
    if (held === undefined) return [event];
    return isAbout(event, held) ? [waitingFor(event, threadId), held, event] : [held, event];
  }

  /** Nobody is to be told anything any more. */
  forget(): void {
    for (const threadId of [...this.#held.keys()]) this.#take(threadId);
  }

  #hold(threadId: string, event: Started): void {
    const timer = setTimeout(() => {
      if (this.#take(threadId) !== undefined) this.#late(event);
    }, ASKED_WITHIN_MS);
    this.#held.set(threadId, { event, timer });
  }

  #take(threadId: string): Started | undefined {
    const held = this.#held.get(threadId);
    clearTimeout(held?.timer);
    this.#held.delete(threadId);
    return held?.event;
  }
}

function isAbout(event: ThreadEvent, { data }: Started): boolean {
  return event.type === "approval/requested" && event.data.approval.action.itemId === data.item.id;
}

function waitingFor({ at }: ThreadEvent, threadId: string): ThreadEvent {
  const status: ThreadStatus = { type: "active", activeFlags: ["waitingOnApproval"] };
  return { type: "thread/status/changed", data: { threadId, status }, at };
}
