import { type AgentEvent, eventThreadId } from "../events/agent-event.ts";
import type { EventListener } from "../events/event-hub.ts";

/**
 * Collects the events of threads that start while it listens: they can arrive before the response that names the
 * thread.
 */
export class NewThreadEvents implements EventListener {
  readonly #threads = new Map<string, AgentEvent[]>();

  event(event: AgentEvent): void {
    const threadId = eventThreadId(event);
    if (threadId === undefined) return;
    if (event.type === "thread/started" && !this.#threads.has(threadId)) this.#threads.set(threadId, []);
    this.#threads.get(threadId)?.push(event);
  }

  ended(): void {}

  /** The events of a thread since it started. */
  of(threadId: string): readonly AgentEvent[] {
    return this.#threads.get(threadId) ?? [];
  }
}
