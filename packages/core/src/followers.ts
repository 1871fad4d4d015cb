import type { ThreadEvent } from "@flint/protocol";
import type { Subscription } from "./subscription.ts";

/** All who follow one thread. None of them can disturb the others. */
export class Followers {
  readonly #subscriptions = new Set<Subscription>();

  get count(): number {
    this.#prune();
    return this.#subscriptions.size;
  }

  add(subscription: Subscription): void {
    this.#subscriptions.add(subscription);
  }

  remove(subscription: Subscription): void {
    subscription.close();
    this.#subscriptions.delete(subscription);
  }

  tell(event: ThreadEvent): void {
    this.#each((subscription) => subscription.receive(event));
  }

  /** What was told up to here is in the log now, under this number. */
  skipTo(seq: number): void {
    this.#each((subscription) => subscription.skipTo(seq));
  }

  /** Tells everybody one last thing, also those who are behind. */
  farewell(event: ThreadEvent): void {
    this.#each((subscription) => subscription.farewell(event));
    this.#subscriptions.clear();
  }

  /** Nobody is told anything any more, except by `farewell`. */
  close(): void {
    this.#each((subscription) => subscription.close());
  }

  #each(action: (subscription: Subscription) => void): void {
    for (const subscription of this.#subscriptions) {
      try {
        action(subscription);
      } catch {
        // A follower that cannot be told anything is gone.
        this.remove(subscription);
      }
    }
  }

  #prune(): void {
    for (const subscription of this.#subscriptions) if (subscription.closed) this.remove(subscription);
  }
}
