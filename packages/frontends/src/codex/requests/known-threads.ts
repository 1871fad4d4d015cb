import type { ThreadEvent, ThreadSettings } from "@flint/protocol";

/** What is known of a thread that a client is subscribed to. */
export interface KnownThread {
  readonly settings: ThreadSettings | undefined;
  readonly activeTurnId: string | undefined;
}

const UNKNOWN: KnownThread = { settings: undefined, activeTurnId: undefined };

/** What later answers need to know of the threads of one client. */
export class KnownThreads {
  readonly #threads = new Map<string, KnownThread>();
  readonly #onStarted = new Map<string, (settings: ThreadSettings) => void>();

  get(threadId: string): KnownThread {
    return this.#threads.get(threadId) ?? UNKNOWN;
  }

  update(threadId: string, known: Partial<KnownThread>): void {
    this.#threads.set(threadId, { ...this.get(threadId), ...known });
  }

  /** Has `answer` run with the settings of a new thread, right before the client is sent that it started. */
  onStarted(threadId: string, answer: (settings: ThreadSettings) => void): void {
    this.#onStarted.set(threadId, answer);
  }

  /** Takes an event before the client is sent it. */
  observe(event: ThreadEvent): void {
    if (event.type === "thread/started") this.#started(event.data.thread.id, event.data.settings);
    else if (event.type === "thread/settings/updated") {
      this.update(event.data.threadId, { settings: event.data.settings });
    } else if (event.type === "turn/started") {
      this.update(event.data.threadId, { activeTurnId: event.data.turn.id });
    } else if (event.type === "turn/completed") {
      this.update(event.data.threadId, { activeTurnId: undefined });
    }
  }

  forget(threadId: string): void {
    this.#threads.delete(threadId);
  }

  /** The client is gone. */
  forgetAll(): void {
    this.#threads.clear();
    this.#onStarted.clear();
  }

  #started(threadId: string, settings: ThreadSettings): void {
    this.update(threadId, { settings });
    const answer = this.#onStarted.get(threadId);
    this.#onStarted.delete(threadId);
    answer?.(settings);
  }
}
