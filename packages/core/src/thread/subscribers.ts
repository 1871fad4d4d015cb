import type { ThreadEvent } from "@flint/protocol";
import type { Subscription } from "./subscription.ts";

/** Conditions that must be met before events are sent. */
export interface DeliveryConditions {
  readonly ready?: Promise<void> | undefined;
  readonly before?: (() => void) | undefined;
}

/** The subscribers of one thread. All receive the same order, and none can disturb the others. */
export class Subscribers {
  readonly #subscriptions = new Set<Subscription>();
  readonly #deliveries = new DeliveryQueue();
  readonly #onSent: ((event: ThreadEvent) => void) | undefined;
  #sentSeq: number;

  /** Everything up to `sentSeq` counts as sent. `onSent` is called after the subscribers. */
  constructor(sentSeq: number, onSent?: (event: ThreadEvent) => void) {
    this.#sentSeq = sentSeq;
    this.#onSent = onSent;
  }

  get count(): number {
    for (const subscription of this.#subscriptions) if (subscription.isClosed) this.remove(subscription);
    return this.#subscriptions.size;
  }

  /** The number of the last stored event that was sent. */
  get sentSeq(): number {
    return this.#sentSeq;
  }

  add(subscription: Subscription): void {
    this.#subscriptions.add(subscription);
  }

  remove(subscription: Subscription): void {
    subscription.close();
    this.#subscriptions.delete(subscription);
  }

  /** Queues events behind those before them. Resolves when they were sent. */
  send(events: readonly ThreadEvent[], { ready, before }: DeliveryConditions = {}): Promise<void> {
    return this.#deliveries.add(ready, () => {
      before?.();
      for (const event of events) this.sendNow(event);
    });
  }

  /** Sends an event at once, ahead of the queue. */
  sendNow(event: ThreadEvent): void {
    // Without a function for each event: most are streamed text.
    for (const subscription of this.#subscriptions) this.#receive(subscription, event);
    if (event.seq !== undefined) this.#sentUpTo(event.seq);
    this.#onSent?.(event);
  }

  /** Records that everything sent so far is in the log, up to this number. */
  markStored(seq: number): Promise<void> {
    return this.#deliveries.add(undefined, () => {
      this.#sentUpTo(seq);
      this.#each((subscription) => subscription.skipTo(seq));
    });
  }

  /** Sends a final event to all, including those that are behind, and removes them. */
  sendFinal(event: ThreadEvent): void {
    this.#each((subscription) => subscription.sendFinal(event));
    this.#subscriptions.clear();
    this.#onSent?.(event);
  }

  /** Closes all subscriptions; only `sendFinal` still reaches the subscribers. */
  close(): void {
    this.#each((subscription) => subscription.close());
  }

  #sentUpTo(seq: number): void {
    this.#sentSeq = Math.max(this.#sentSeq, seq);
  }

  #receive(subscription: Subscription, event: ThreadEvent): void {
    try {
      subscription.receive(event);
    } catch {
      // The subscriber failed, so it is removed.
      this.remove(subscription);
    }
  }

  #each(action: (subscription: Subscription) => void): void {
    for (const subscription of this.#subscriptions) {
      try {
        action(subscription);
      } catch {
        // The subscriber failed, so it is removed.
        this.remove(subscription);
      }
    }
  }
}

const CALLED = Promise.resolve();

interface Entry {
  readonly ready: Promise<void> | undefined;
  readonly run: () => void;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Runs deliveries strictly in the order in which they were added. One may wait for the disk; then everything behind it
 * waits too, so that nothing overtakes what was stored before it.
 */
export class DeliveryQueue {
  readonly #entries: Entry[] = [];
  #pumping = false;

  /**
   * Resolves when `run` was called and rejects with what it threw; either way the next entry follows. Calls it at once if
   * nothing is pending. What is added from inside a `run` comes after it.
   */
  add(ready: Promise<void> | undefined, run: () => void): Promise<void> {
    if (!this.#pumping && ready === undefined) return this.#runAtOnce(run);
    const called = new Promise<void>((resolve, reject) => {
      this.#entries.push({ ready, run, resolve, reject });
    });
    if (!this.#pumping) this.#pump();
    return called;
  }

  /** Runs what nothing is ahead of. */
  #runAtOnce(run: () => void): Promise<void> {
    this.#pumping = true;
    try {
      run();
      return CALLED;
    } catch (error) {
      return Promise.reject(error);
    } finally {
      this.#pump();
    }
  }

  #pump(): void {
    this.#pumping = true;
    for (let entry = this.#entries.shift(); entry !== undefined; entry = this.#entries.shift()) {
      if (entry.ready !== undefined) {
        this.#runWhenReady(entry, entry.ready);
        return;
      }
      runEntry(entry);
    }
    this.#pumping = false;
  }

  #runWhenReady(entry: Entry, ready: Promise<void>): void {
    const goOn = () => {
      runEntry(entry);
      this.#pump();
    };
    // A failure is handled by the owner of the promise; the order does not depend on it.
    ready.then(goOn, goOn);
  }
}

function runEntry({ run, resolve, reject }: Entry): void {
  try {
    run();
    resolve();
  } catch (error) {
    // Reported to the caller who added the entry; must not stop the others.
    reject(error);
  }
}
