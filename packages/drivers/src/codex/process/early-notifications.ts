import type { CodexNotification } from "@flint/protocol/codex";

/** The number of notifications that are kept, and how many characters of them. */
const MAX_COUNT = 200;
const MAX_CHARACTERS = 1_000_000;

interface Kept {
  readonly notification: CodexNotification;
  readonly characters: number;
}

/** Keeps the notifications of threads that have no listener yet. The oldest threads are dropped when there are too many. */
export class EarlyNotifications {
  readonly #threads = new Map<string, Kept[]>();
  #count = 0;
  #characters = 0;

  /** Keeps a notification, unless it alone is too large. */
  add(threadId: string, notification: CodexNotification): void {
    const characters = JSON.stringify(notification.params).length;
    if (characters > MAX_CHARACTERS) return;
    const kept = this.#threads.get(threadId) ?? [];
    kept.push({ notification, characters });
    this.#threads.set(threadId, kept);
    this.#count += 1;
    this.#characters += characters;
    while (this.#count > MAX_COUNT || this.#characters > MAX_CHARACTERS) this.#dropOldest();
  }

  /** The notifications of a thread, which are no longer kept. */
  take(threadId: string): readonly CodexNotification[] {
    const kept = this.#threads.get(threadId) ?? [];
    this.#threads.delete(threadId);
    this.#count -= kept.length;
    for (const { characters } of kept) this.#characters -= characters;
    return kept.map(({ notification }) => notification);
  }

  #dropOldest(): void {
    const [oldest] = this.#threads.keys();
    if (oldest !== undefined) this.take(oldest);
  }
}
