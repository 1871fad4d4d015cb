import { type AgentEvent, eventThreadId } from "./agent-event.ts";
import type { EventListener } from "./event-hub.ts";

/**
 * The events of threads that begin while it listens. The events of a new thread can be here before the one who asked
 * for it has seen the answer that names it.
 */
export class ThreadBirths implements EventListener {
  readonly #threads = new Map<string, AgentEvent[]>();

  event(event: AgentEvent): void {
    const threadId = eventThreadId(event);
    if (threadId === undefined) return;
    if (event.type === "thread/started" && !this.#threads.has(threadId)) this.#threads.set(threadId, []);
    this.#threads.get(threadId)?.push(event);
  }

  ended(): void {}

  /** What has happened in the thread since it began. */
  of(threadId: string): readonly AgentEvent[] {
    return this.#threads.get(threadId) ?? [];
  }
}
