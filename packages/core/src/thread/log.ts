import {
  asFlintError,
  type EventBody,
  FlintError,
  keepingOf,
  LIMITS,
  reduceThread,
  type StoredEvent,
  type ThreadEvent,
  type ThreadState,
} from "@flint/protocol";
import type { Clock, ThreadWriter } from "../ports/index.ts";
import { Redactor } from "../redact/index.ts";
import { DeltaBuffer, type DeltaTarget } from "./delta-buffer.ts";
import { Subscribers } from "./subscribers.ts";
import { type Subscriber, Subscription } from "./subscription.ts";
import { hasSameListing, isSameStatus, keepLatestTurn, textLength, withAllItems } from "./view.ts";

/** What follows it runs before the next event, and costs less than `queueMicrotask`, which makes a resource of its own. */
const THIS_TICK = Promise.resolve();

/** From when on streamed text is stored at the next occasion, without waiting for its time to be over. */
const EARLY_FLUSH_MS = LIMITS.deltaMilliseconds * 0.8;

/** What a log needs to work. */
export interface ThreadLogOptions {
  readonly writer: ThreadWriter;
  readonly state: ThreadState;
  readonly clock: Clock;
  /** What makes text fit to be kept and shown. */
  readonly redactor?: Redactor | undefined;
  /** Hears everything that is told, after those who follow. */
  readonly onSent?: ((event: ThreadEvent) => void) | undefined;
  read(afterSeq: number): AsyncIterable<StoredEvent>;
}

/** The single writer of a thread: stores, folds and tells its events, in that order and without any secret in them. */
export class ThreadLog {
  readonly #writer: ThreadWriter;
  readonly #clock: Clock;
  readonly #redactor: Redactor;
  readonly #deltas: DeltaBuffer;
  readonly #subscribers: Subscribers;
  readonly #read: (afterSeq: number) => AsyncIterable<StoredEvent>;
  #state: ThreadState;
  /** Told although the disk refused them; they go into the log before anything else does. */
  #unwritten: readonly EventBody[] = [];
  #isSendScheduled = false;
  #cancelFlush: (() => void) | undefined;
  /** When the oldest piece was told that is not stored yet. */
  #unstoredSince = 0;
  #checkpointed: ThreadState["thread"];
  #onFailure: ((error: FlintError) => void) | undefined;
  #closed = false;
  readonly #sendPendingInTick = (): void => {
    this.#isSendScheduled = false;
    this.#sendPending();
  };
  readonly #flushInTick = (): void => this.#flush();

  constructor(options: ThreadLogOptions) {
    this.#writer = options.writer;
    this.#clock = options.clock;
    this.#redactor = options.redactor ?? new Redactor([]);
    this.#deltas = new DeltaBuffer(this.#redactor);
    this.#state = options.state;
    this.#subscribers = new Subscribers(options.state.seq, options.onSent);
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

  get subscriberCount(): number {
    return this.#subscribers.count;
  }

  /** The state with everything that happened. */
  current(): ThreadState {
    this.#sendPending();
    this.#flush();
    return this.#state;
  }

  /** Who is told when the log cannot be written. */
  onFailure(listener: ((error: FlintError) => void) | undefined): void {
    this.#onFailure = listener;
  }

  /**
   * Stores events, folds them, and tells them after `before` was called: that is where a response goes, so that it
   * precedes the events it causes. Throws `storageFailed` with nothing changed. Resolves when they are told.
   */
  commit(events: readonly EventBody[], before?: () => void): Promise<void> {
    const bodies = this.#redactor.value(events);
    for (const body of bodies) {
      if (body.type === "item/completed") this.endText(body.data.item.id);
    }
    this.#sendPending();
    // Nothing to store: what could not be stored earlier is no reason to refuse.
    if (bodies.length === 0) this.#flush();
    else if (this.#closed) throw justUnloaded(this.#state.thread.id);
    const status = this.#state.thread.status;
    const stored = bodies.length === 0 ? [] : this.#append(bodies);
    const told: ThreadEvent[] = stored.map((event) => withAllItems(event, this.#state));
    told.push(...this.#statusChange(status));
    this.#afterFold(stored.some((event) => event.type === "turn/completed"));
    const isSynced = stored.some((event) => keepingOf(event.type) === "synced");
    return this.#subscribers.send(told, { ready: isSynced ? this.#sync() : undefined, before });
  }

  /**
   * For the end of a turn when the disk refuses: told and folded now, stored as soon as that is possible. What ends
   * it is made from the state with all text that was told.
   */
  commitUnwritten(decide: (state: ThreadState) => readonly EventBody[]): Promise<void> {
    this.endText();
    this.#sendPending();
    const { status } = this.#state.thread;
    this.#foldUnwritten(this.#deltas.unstored());
    this.#deltas.markStored();
    const events = this.#foldUnwritten(this.#redactor.value(decide(this.#state)));
    const told = [...events.map((event) => withAllItems(event, this.#state)), ...this.#statusChange(status)];
    this.#state = keepLatestTurn(this.#state);
    return this.#subscribers.send(told);
  }

  /** Tells an event that is never stored. */
  sendLive(body: EventBody): void {
    this.#sendPending();
    void this.#subscribers.send([{ ...this.#redactor.value(body), at: this.#clock.now() }]);
  }

  /** Takes a piece of streamed text: told within this tick, stored within 100 ms. */
  delta(place: DeltaTarget, piece: string): void {
    this.#deltas.push(place, piece, () => textLength(this.#state, place));
    if (this.#deltas.pendingSize >= LIMITS.deltaBytes) this.#sendPending();
    if (this.#isSendScheduled) return;
    this.#isSendScheduled = true;
    void THIS_TICK.then(this.#sendPendingInTick);
  }

  /** No more text comes for an item, or for any: the last of it need not wait for what it might have become. */
  endText(itemId?: string): void {
    this.#deltas.finish((place) => textLength(this.#state, place), itemId);
  }

  /** Resolves when everything so far is told. */
  drained(): Promise<void> {
    return this.#subscribers.send([]);
  }

  /** Follows the log from a place on; the follower has seen everything up to `afterSeq`. */
  subscribe(follower: Subscriber, afterSeq: number): Subscription {
    const log = {
      settle: () => ({ state: this.current(), toldSeq: this.#subscribers.toldSeq }),
      read: this.#read,
      now: () => this.#clock.now(),
    };
    const subscription = new Subscription(log, follower, afterSeq);
    this.#subscribers.add(subscription);
    return subscription;
  }

  unsubscribe(subscription: Subscription): void {
    this.#subscribers.remove(subscription);
  }

  /** Tells all followers one last thing and lets them go. */
  sendFinal(body: EventBody): void {
    this.#subscribers.sendFinal({ ...this.#redactor.value(body), at: this.#clock.now() });
  }

  /** Stores and tells what is left and gives up the writer. Followers hear that it rests, or nothing until a farewell. */
  async close(isFollowedByFarewell = false): Promise<void> {
    this.current();
    this.#closed = true;
    await this.#subscribers.send(isFollowedByFarewell ? [] : [this.#unloadedEvent()]);
    this.#subscribers.close();
    this.#writer.checkpoint(this.#state);
    await this.#writer.close();
  }

  #unloadedEvent(): ThreadEvent {
    return { type: "thread/closed", data: { threadId: this.#state.thread.id }, at: this.#clock.now() };
  }

  #foldUnwritten(bodies: readonly EventBody[]): ThreadEvent[] {
    const at = this.#clock.now();
    const events = bodies.map((body): ThreadEvent => ({ ...body, at }));
    for (const event of events) this.#state = reduceThread(this.#state, event);
    this.#unwritten = [...this.#unwritten, ...bodies];
    return events;
  }

  /** Appends what was told before, then `bodies`, in one write; only `bodies` are still to be told. */
  #append(bodies: readonly EventBody[]): readonly StoredEvent[] {
    const earlier = [...this.#unwritten, ...this.#deltas.unstored()];
    if (earlier.length + bodies.length === 0) return [];
    const stored = this.#write([...earlier, ...bodies]);
    this.#unwritten = [];
    this.#deltas.markStored();
    for (const event of stored) this.#state = reduceThread(this.#state, event);
    const lastEarlier = stored[earlier.length - 1];
    if (lastEarlier !== undefined) void this.#subscribers.markStored(lastEarlier.seq);
    return stored.slice(earlier.length);
  }

  #write(bodies: readonly EventBody[]): readonly StoredEvent[] {
    try {
      return this.#writer.append(bodies, this.#clock.now());
    } catch (error) {
      // The disk refused. Nothing is lost yet: what was told already is tried again with the next write.
      const failure = asFlintError(error);
      this.#onFailure?.(failure);
      throw failure;
    }
  }

  #sendPending(): void {
    if (!this.#deltas.hasPending) return;
    const at = this.#clock.now();
    void this.#subscribers.send(this.#deltas.takePending().map((body) => ({ ...body, at })));
    if (this.#deltas.unstoredBytes >= LIMITS.deltaBytes) this.#flush();
    else this.#flushLater(at);
  }

  /** In time, and best right behind a piece that was just told: then the next one seldom has to wait for the disk. */
  #flushLater(now: number): void {
    if (this.#cancelFlush === undefined) {
      this.#unstoredSince = now;
      this.#cancelFlush = this.#clock.after(LIMITS.deltaMilliseconds, this.#flushInTick);
    } else if (now - this.#unstoredSince >= EARLY_FLUSH_MS) {
      // Whoever follows sends in this tick, and was asked before.
      void THIS_TICK.then(this.#flushInTick);
    }
  }

  #flush(): void {
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    const isAllStored = !this.#deltas.hasUnstored && this.#unwritten.length === 0;
    if (isAllStored || this.#closed) return;
    const endedTurn = this.#unwritten.length > 0;
    try {
      this.#append([]);
      this.#afterFold(endedTurn);
    } catch {
      // Whoever runs the turn knows by `onFailure`; without a turn there is nothing that could go wrong further.
    }
  }

  #statusChange(before: ThreadState["thread"]["status"]): ThreadEvent[] {
    const { id: threadId, status } = this.#state.thread;
    if (isSameStatus(status, before)) return [];
    return [{ type: "thread/status/changed", data: { threadId, status }, at: this.#clock.now() }];
  }

  /** After a turn the memory of it shrinks; lists and the next opening learn of what changed. */
  #afterFold(turnEnded: boolean): void {
    if (this.#state.activeTurnId === undefined) this.#deltas.reset();
    this.#state = keepLatestTurn(this.#state);
    if (!turnEnded && hasSameListing(this.#state.thread, this.#checkpointed)) return;
    this.#checkpointed = this.#state.thread;
    this.#writer.checkpoint(this.#state);
  }

  /** An answer that is not safely on the disk must not be acted upon: the running turn ends, and everybody hears why. */
  async #sync(): Promise<void> {
    try {
      await this.#writer.sync();
    } catch (error) {
      const failure = asFlintError(error);
      this.#onFailure?.(failure);
      const data = { threadId: this.#state.thread.id, message: failure.message, reason: "syncFailed" };
      this.#subscribers.sendNow({ type: "warning", data, at: this.#clock.now() });
    }
  }
}

function justUnloaded(threadId: string): FlintError {
  const message = `Thread ${threadId} was put to rest at this very moment; try again.`;
  return new FlintError("overloaded", message, { threadId });
}
