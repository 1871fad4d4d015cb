import { threadIdOf } from "@flint/protocol";
import type { AgentEvent, EventListener } from "@flint/sdk";

/**
 * The events of one thread until its turn has ended. It is subscribed before the thread has an id, because the first
 * events can arrive before the response that has it.
 */
export class ThreadFeed implements EventListener {
  readonly #show: (event: AgentEvent) => void;
  #early: AgentEvent[] = [];
  #threadId: string | undefined;
  #over = false;

  constructor(show: (event: AgentEvent) => void) {
    this.#show = show;
  }

  /** Passes on the events of this thread, starting with those that have already arrived. */
  start(threadId: string): void {
    this.#threadId = threadId;
    for (const event of this.#early) this.#pass(event);
    this.#early = [];
  }

  event(event: AgentEvent): void {
    if (this.#threadId === undefined) this.#early.push(event);
    else this.#pass(event);
  }

  ended(): void {}

  #pass(event: AgentEvent): void {
    if (this.#over || idOf(event) !== this.#threadId) return;
    this.#over = event.type === "turn/completed";
    this.#show(event);
  }
}

function idOf(event: AgentEvent): string | undefined {
  if (event.type !== "unknown") return threadIdOf(event);
  const { params } = event;
  const has = typeof params === "object" && params !== null && "threadId" in params;
  return has && typeof params.threadId === "string" ? params.threadId : undefined;
}
