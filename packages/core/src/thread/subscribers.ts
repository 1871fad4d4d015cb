import type { ThreadEvent } from "@flint/protocol";
import { DeliveryQueue } from "./delivery-queue.ts";
import type { Subscription } from "./subscription.ts";

/** When events are told: after the disk has them, and after something else that must come first. */
export interface DeliveryConditions {
  readonly ready?: Promise<void> | undefined;
  readonly before?: (() => void) | undefined;
}

/** All who follow one thread. They are told everything in one order, and none of them can disturb the others. */
export class Subscribers {
  readonly #subscriptions = new Set<Subscription>();
  readonly #deliveries = new DeliveryQueue();
  readonly #onSent: ((event: ThreadEvent) => void) | undefined;
  #sentSeq: number;

  /** Everything up to `toldSeq` counts as told. `onTold` hears everything, after the followers. */
  constructor(sentSeq: number, onTold?: (event: ThreadEvent) => void) {
    this.#sentSeq = sentSeq;
    this.#onSent = onTold;
  }

  get count(): number {
    for (const subscription of this.#subscriptions) if (subscription.isClosed) this.remove(subscription);
    return this.#subscriptions.size;
  }

  /** The number of the last stored event that was told. */
  get toldSeq(): number {
    return this.#sentSeq;
  }

  add(subscription: Subscription): void {
    this.#subscriptions.add(subscription);
  }

  remove(subscription: Subscription): void {
    subscription.close();
    this.#subscriptions.delete(subscription);
  }

  /** Tells events behind everything that was to be told before. Resolves when they are told. */
  send(events: readonly ThreadEvent[], { ready, before }: DeliveryConditions = {}): Promise<void> {
    return this.#deliveries.add(ready, () => {
      before?.();
      for (const event of events) this.sendNow(event);
    });
  }

  /** Tells an event that has no place in the order. */
  sendNow(event: ThreadEvent): void {
    this.#each((subscription) => subscription.receive(event));
    this.#sentUpTo(event.seq ?? 0);
    this.#onSent?.(event);
  }

  /** Notes that what was told so far is in the log now, up to this number. */
  markStored(seq: number): Promise<void> {
    return this.#deliveries.add(undefined, () => {
      this.#sentUpTo(seq);
      this.#each((subscription) => subscription.skipTo(seq));
    });
  }

  /** Tells everybody one last thing, also those who are behind, and lets them go. */
  sendFinal(event: ThreadEvent): void {
    this.#each((subscription) => subscription.sendFinal(event));
    this.#subscriptions.clear();
    this.#onSent?.(event);
  }

  /** Nobody is told anything any more, except by `farewell`. */
  close(): void {
    this.#each((subscription) => subscription.close());
  }

  #sentUpTo(seq: number): void {
    this.#sentSeq = Math.max(this.#sentSeq, seq);
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
