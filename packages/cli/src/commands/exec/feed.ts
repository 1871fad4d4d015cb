import { threadIdOf } from "@flint/protocol";
import type { AgentEvent, EventListener } from "@flint/sdk";

/**
 * Everything that happens in one thread until its turn is over. It listens before the thread has an id, because the
 * first events of a thread can be here before the answer that names it.
 */
export class ThreadFeed implements EventListener {
  readonly #show: (event: AgentEvent) => void;
  #early: AgentEvent[] = [];
  #threadId: string | undefined;
  #over = false;

  constructor(show: (event: AgentEvent) => void) {
    this.#show = show;
  }

  /** From now on the events of this thread are shown, those that came already first. */
  begin(threadId: string): void {
    this.#threadId = threadId;
    for (const event of this.#early) this.#tell(event);
    this.#early = [];
  }

  event(event: AgentEvent): void {
    if (this.#threadId === undefined) this.#early.push(event);
    else this.#tell(event);
  }

  ended(): void {}

  #tell(event: AgentEvent): void {
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
