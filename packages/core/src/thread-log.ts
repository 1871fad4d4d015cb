import {
  asFlintError,
  DELTA_FIELDS,
  type EventBody,
  type FlintError,
  keepingOf,
  LIMITS,
  reduceThread,
  type StoredEvent,
  type ThreadEvent,
  type ThreadState,
} from "@flint/protocol";
import { DeltaBuffer, type DeltaPlace } from "./delta-buffer.ts";
import type { Clock, ThreadWriter } from "./ports/index.ts";
import { type Follower, Subscription } from "./subscription.ts";
import { TellQueue } from "./tell-queue.ts";
import { keepLatestTurn, withAllItems } from "./turn-view.ts";

/** What a log needs to work. */
export interface ThreadLogOptions {
  readonly writer: ThreadWriter;
  readonly state: ThreadState;
  readonly clock: Clock;
  read(afterSeq: number): AsyncIterable<StoredEvent>;
}

/** The single writer of a thread: stores, folds and tells its events, in that order. */
export class ThreadLog {
  readonly #writer: ThreadWriter;
  readonly #clock: Clock;
  readonly #deltas = new DeltaBuffer();
  readonly #tells = new TellQueue();
  readonly #subscriptions = new Set<Subscription>();
  readonly #read: (afterSeq: number) => AsyncIterable<StoredEvent>;
  #state: ThreadState;
  #toldSeq: number;
  /** Told although the disk refused them; they go into the log before anything else does. */
  #unsaved: readonly EventBody[] = [];
  #releaseScheduled = false;
  #cancelFlush: (() => void) | undefined;
  #checkpointed: ThreadState["thread"];
  #onFailure: ((error: FlintError) => void) | undefined;

  constructor(options: ThreadLogOptions) {
    this.#writer = options.writer;
    this.#clock = options.clock;
    this.#state = options.state;
    this.#toldSeq = options.state.seq;
    this.#checkpointed = options.state.thread;
    this.#read = options.read;
  }

  get epoch(): string {
    return this.#writer.epoch;
  }

  /** The state without text that is still on its way into the log. */
  get state(): ThreadState {
    return this.#state;
  }

  get followers(): number {
    return this.#subscriptions.size;
  }

  /** The state with everything that happened. */
  current(): ThreadState {
    this.#release();
    this.#flush();
    return this.#state;
  }

  /** Who is told when text cannot be stored in the background. */
  onFailure(listener: ((error: FlintError) => void) | undefined): void {
    this.#onFailure = listener;
  }

  /**
   * Stores events, folds them, and tells them after `before` was called: that is where a response goes, so that it
   * precedes the events it causes. Throws `storageFailed` with nothing changed. Resolves when they are told.
   */
  commit(bodies: readonly EventBody[], before?: () => void): Promise<void> {
    this.#release();
    const stored = this.#append(bodies);
    const told = stored.map((event) => withAllItems(event, this.#state));
    this.#afterFold(stored.some((event) => event.type === "turn/completed"));
    const synced = stored.some((event) => keepingOf(event.type) === "synced");
    return this.#tells.add(synced ? this.#sync() : undefined, () => {
      before?.();
      for (const event of told) this.#tell(event);
    });
  }

  /** For the end of a turn when the disk refuses: told and folded now, stored as soon as that is possible. */
  commitUnsaved(bodies: readonly EventBody[]): Promise<void> {
    const at = this.#clock.now();
    this.#release();
    const events = bodies.map((body): ThreadEvent => ({ ...body, at }));
    for (const event of events) this.#state = reduceThread(this.#state, event);
    const told = events.map((event) => withAllItems(event, this.#state));
    this.#state = keepLatestTurn(this.#state);
    this.#unsaved = [...this.#unsaved, ...bodies];
    return this.#tells.add(undefined, () => {
      for (const event of told) this.#tell(event);
    });
  }

  /** Tells an event that is never stored. */
  announce(body: EventBody): void {
    const event: ThreadEvent = { ...body, at: this.#clock.now() };
    this.#release();
    void this.#tells.add(undefined, () => this.#tell(event));
  }

  /** Takes a piece of streamed text: told within this tick, stored within 100 ms. */
  delta(place: DeltaPlace, piece: string): void {
    this.#deltas.push(place, piece, () => this.#knownLength(place));
    if (this.#releaseScheduled) return;
    this.#releaseScheduled = true;
    queueMicrotask(() => this.#release());
  }

  /** Follows the log from a place on; the follower has seen everything up to `afterSeq`. */
  follow(follower: Follower, afterSeq: number): Subscription {
    const log = {
      settle: () => ({ state: this.current(), toldSeq: this.#toldSeq }),
      read: this.#read,
    };
    const subscription = new Subscription(log, follower, afterSeq);
    this.#subscriptions.add(subscription);
    return subscription;
  }

  unfollow(subscription: Subscription): void {
    subscription.close();
    this.#subscriptions.delete(subscription);
  }

  /** Stores what is left and gives up the writer. */
  async close(): Promise<void> {
    this.#release();
    this.#flush();
    this.#cancelFlush?.();
    for (const subscription of this.#subscriptions) subscription.close();
    this.#subscriptions.clear();
    this.#writer.checkpoint(this.#state);
    await this.#writer.close();
  }

  /** Appends what was told before, then `bodies`, in one write; only `bodies` are still to be told. */
  #append(bodies: readonly EventBody[]): readonly StoredEvent[] {
    const earlier = [...this.#unsaved, ...(this.#deltas.hasTold ? this.#deltas.takeTold() : [])];
    if (earlier.length + bodies.length === 0) return [];
    let stored: readonly StoredEvent[];
    try {
      stored = this.#writer.append([...earlier, ...bodies], this.#clock.now());
    } catch (error) {
      // The disk refused. Streamed text is not lost: the item's end carries all of it again.
      throw asFlintError(error);
    }
    this.#unsaved = [];
    for (const event of stored) this.#state = reduceThread(this.#state, event);
    const lastEarlier = stored[earlier.length - 1];
    if (lastEarlier !== undefined) this.#markTold(lastEarlier.seq);
    return stored.slice(earlier.length);
  }

  #markTold(seq: number): void {
    void this.#tells.add(undefined, () => {
      this.#toldSeq = Math.max(this.#toldSeq, seq);
      for (const subscription of this.#subscriptions) subscription.skipTo(seq);
    });
  }

  #release(): void {
    this.#releaseScheduled = false;
    if (!this.#deltas.hasFresh) return;
    if (this.#deltas.hasTold && this.#someoneIsFull()) this.#flush();
    const at = this.#clock.now();
    const events = this.#deltas.takeFresh().map((body): ThreadEvent => ({ ...body, at }));
    void this.#tells.add(undefined, () => {
      for (const event of events) this.#tell(event);
    });
    if (this.#deltas.toldSize >= LIMITS.deltaBytes) this.#flush();
    else this.#cancelFlush ??= this.#clock.after(LIMITS.deltaMilliseconds, () => this.#flush());
  }

  #flush(): void {
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    if (!this.#deltas.hasTold) return;
    try {
      this.#append([]);
    } catch (error) {
      this.#onFailure?.(asFlintError(error));
    }
  }

  #someoneIsFull(): boolean {
    for (const subscription of this.#subscriptions) {
      if (subscription.live && subscription.follower.full()) return true;
    }
    return false;
  }

  #tell(event: ThreadEvent): void {
    for (const subscription of this.#subscriptions) this.#tellOne(subscription, event);
    if (event.seq !== undefined) this.#toldSeq = Math.max(this.#toldSeq, event.seq);
  }

  /** A follower that throws is not followed any more; the others must not suffer from it. */
  #tellOne(subscription: Subscription, event: ThreadEvent): void {
    try {
      subscription.receive(event);
    } catch {
      this.unfollow(subscription);
    }
  }

  /** After a turn the memory of it shrinks; lists and the next opening learn of what changed. */
  #afterFold(turnEnded: boolean): void {
    if (this.#state.activeTurnId === undefined) this.#deltas.reset();
    this.#state = keepLatestTurn(this.#state);
    const { status: _status, ...thread } = this.#state.thread;
    const { status: _before, ...known } = this.#checkpointed;
    if (!turnEnded && JSON.stringify(thread) === JSON.stringify(known)) return;
    this.#checkpointed = this.#state.thread;
    this.#writer.checkpoint(this.#state);
  }

  /** A disk that cannot sync has no better moment to say so; the event is told with a warning beside it. */
  async #sync(): Promise<void> {
    try {
      await this.#writer.sync();
    } catch (error) {
      const { message } = asFlintError(error);
      const data = { threadId: this.#state.thread.id, message, reason: "syncFailed" };
      const event: ThreadEvent = { type: "warning", data, at: this.#clock.now() };
      for (const subscription of this.#subscriptions) this.#tellOne(subscription, event);
    }
  }

  #knownLength(place: DeltaPlace): number {
    const field = DELTA_FIELDS.get(place.type) ?? "text";
    const turn = this.#state.turns.findLast((known) => known.id === place.turnId);
    const item = turn?.items.findLast((known) => known.id === place.itemId);
    const text: unknown = item === undefined ? undefined : Reflect.get(item, field);
    return typeof text === "string" ? text.length : 0;
  }
}

