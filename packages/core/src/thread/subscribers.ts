import type { ThreadEvent } from "@flint/protocol";
import { TellQueue } from "./delivery-queue.ts";
import type { Subscription } from "./subscription.ts";

/** When events are told: after the disk has them, and after something else that must come first. */
export interface TellAfter {
  readonly ready?: Promise<void> | undefined;
  readonly before?: (() => void) | undefined;
}

/** All who follow one thread. They are told everything in one order, and none of them can disturb the others. */
export class Followers {
  readonly #subscriptions = new Set<Subscription>();
  readonly #tells = new TellQueue();
  readonly #onTold: ((event: ThreadEvent) => void) | undefined;
  #toldSeq: number;

  /** Everything up to `toldSeq` counts as told. `onTold` hears everything, after the followers. */
  constructor(toldSeq: number, onTold?: (event: ThreadEvent) => void) {
    this.#toldSeq = toldSeq;
    this.#onTold = onTold;
  }

  get count(): number {
    for (const subscription of this.#subscriptions) if (subscription.closed) this.remove(subscription);
    return this.#subscriptions.size;
  }

  /** The number of the last stored event that was told. */
  get toldSeq(): number {
    return this.#toldSeq;
  }

  add(subscription: Subscription): void {
    this.#subscriptions.add(subscription);
  }

  remove(subscription: Subscription): void {
    subscription.close();
    this.#subscriptions.delete(subscription);
  }

  /** Tells events behind everything that was to be told before. Resolves when they are told. */
  tell(events: readonly ThreadEvent[], { ready, before }: TellAfter = {}): Promise<void> {
    return this.#tells.add(ready, () => {
      before?.();
      for (const event of events) this.tellNow(event);
    });
  }

  /** Tells an event that has no place in the order. */
  tellNow(event: ThreadEvent): void {
    this.#each((subscription) => subscription.receive(event));
    this.#toldUpTo(event.seq ?? 0);
    this.#onTold?.(event);
  }

  /** Notes that what was told so far is in the log now, up to this number. */
  stored(seq: number): Promise<void> {
    return this.#tells.add(undefined, () => {
      this.#toldUpTo(seq);
      this.#each((subscription) => subscription.skipTo(seq));
    });
  }

  /** Tells everybody one last thing, also those who are behind, and lets them go. */
  farewell(event: ThreadEvent): void {
    this.#each((subscription) => subscription.farewell(event));
    this.#subscriptions.clear();
    this.#onTold?.(event);
  }

  /** Nobody is told anything any more, except by `farewell`. */
  close(): void {
    this.#each((subscription) => subscription.close());
  }

  #toldUpTo(seq: number): void {
    this.#toldSeq = Math.max(this.#toldSeq, seq);
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
}
