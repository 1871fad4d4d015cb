import type { Clock } from "@flint/core/ports";
import { type ThreadEvent, type ThreadStatus, threadIdOf } from "@flint/protocol";
import type { Stage } from "./stage.ts";

type Started = Extract<ThreadEvent, { type: "item/started" }>;

/** How long an agent may take to ask about a command that it has just reported. */
const ASKED_WITHIN_MS = 20;

/**
 * A thread waits on approval before the command starts that it waits for, as in Codex. Agents report the command first; so
 * its start is deferred until it is known whether the user is asked.
 */
export class DeferredStart implements Stage<ThreadEvent> {
  readonly #clock: Clock;
  readonly #late: (event: ThreadEvent) => void;
  readonly #deferred = new Map<string, { readonly event: Started; cancel(): void }>();

  /** `late` passes on the start of a command that the user was not asked about in time. */
  constructor(clock: Clock, late: (event: ThreadEvent) => void) {
    this.#clock = clock;
    this.#late = late;
  }

  pass(event: ThreadEvent): readonly ThreadEvent[] {
    const threadId = threadIdOf(event);
    if (threadId === undefined) return [event];
    const started = this.#take(threadId);
    if (event.type === "item/started" && event.data.item.type === "commandExecution") {
      this.#defer(threadId, event);
      return started === undefined ? [] : [started];
    }
    if (started === undefined) return [event];
    return isAbout(event, started) ? [waiting(event, threadId), started, event] : [started, event];
  }

  forget(threadId?: string): void {
    for (const id of threadId === undefined ? [...this.#deferred.keys()] : [threadId]) this.#take(id);
  }

  #defer(threadId: string, event: Started): void {
    const cancel = this.#clock.after(ASKED_WITHIN_MS, () => {
      if (this.#take(threadId) !== undefined) this.#late(event);
    });
    this.#deferred.set(threadId, { event, cancel });
  }

  #take(threadId: string): Started | undefined {
    const deferred = this.#deferred.get(threadId);
    deferred?.cancel();
    this.#deferred.delete(threadId);
    return deferred?.event;
  }
}

function isAbout(event: ThreadEvent, { data }: Started): boolean {
  return event.type === "approval/requested" && event.data.approval.action.itemId === data.item.id;
}

function waiting({ at }: ThreadEvent, threadId: string): ThreadEvent {
  const status: ThreadStatus = { type: "active", activeFlags: ["waitingOnApproval"] };
  return { type: "thread/status/changed", data: { threadId, status }, at };
}
