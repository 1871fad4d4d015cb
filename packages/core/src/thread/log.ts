import {
  asFlintError,
  type EventBody,
  FlintError,
  LIMITS,
  persistenceOf,
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

/** `THIS_TICK.then(f)` runs `f` in this tick, at less cost than `queueMicrotask`, which creates an async resource. */
const THIS_TICK = Promise.resolve();

/** After this long, streamed text is stored behind the next piece instead of on the timer. */
const EARLY_FLUSH_MS = LIMITS.deltaMilliseconds * 0.8;

/** Options of a log. */
export interface ThreadLogOptions {
  readonly writer: ThreadWriter;
  readonly state: ThreadState;
  readonly clock: Clock;
  /** Removes secrets from everything that is stored and sent. */
  readonly redactor?: Redactor | undefined;
  /** Called with every event that was sent, after the subscribers. */
  readonly onSent?: ((event: ThreadEvent) => void) | undefined;
  read(afterSeq: number): AsyncIterable<StoredEvent>;
}

/** The single writer of a thread: stores, folds and sends its events, in that order and without secrets. */
export class ThreadLog {
  readonly #writer: ThreadWriter;
  readonly #clock: Clock;
  readonly #redactor: Redactor;
  readonly #deltas: DeltaBuffer;
  readonly #subscribers: Subscribers;
  readonly #read: (afterSeq: number) => AsyncIterable<StoredEvent>;
  #state: ThreadState;
  /** Sent although they could not be stored; they are written before anything else. */
  #unwritten: readonly EventBody[] = [];
  #isSendScheduled = false;
  #cancelFlush: (() => void) | undefined;
  /** Time at which the oldest piece was sent that is not stored yet. */
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

  /** The state without streamed text that is not in the log yet. */
  get state(): ThreadState {
    return this.#state;
  }

  get subscriberCount(): number {
    return this.#subscribers.count;
  }

  /** The state with everything that happened, after storing pending text. */
  current(): ThreadState {
    this.#sendPending();
    this.#flush();
    return this.#state;
  }

  /** Sets the listener for failed writes. */
  onFailure(listener: ((error: FlintError) => void) | undefined): void {
    this.#onFailure = listener;
  }

  /**
   * Stores events, folds them, calls `before`, and sends them. `before` is where a response is sent, so that it precedes
   * the events it causes. Throws `storageFailed` with nothing changed. Resolves when they were sent.
   */
  commit(events: readonly EventBody[], before?: () => void): Promise<void> {
    const bodies = this.#redactor.value(events);
    for (const body of bodies) {
      if (body.type === "item/completed") this.endText(body.data.item.id);
    }
    this.#sendPending();
    // Nothing to store, so an earlier failure is not a reason to reject.
    if (bodies.length === 0) this.#flush();
    else if (this.#closed) throw justUnloaded(this.#state.thread.id);
    const status = this.#state.thread.status;
    const stored = bodies.length === 0 ? [] : this.#append(bodies);
    const sent: ThreadEvent[] = stored.map((event) => withAllItems(event, this.#state));
    sent.push(...this.#statusChange(status));
    this.#afterFold(stored.some((event) => event.type === "turn/completed"));
    const isSynced = stored.some((event) => persistenceOf(event.type) === "synced");
    return this.#subscribers.send(sent, { ready: isSynced ? this.#sync() : undefined, before });
  }

  /**
   * Ends a turn whose end cannot be stored: sent and folded now, stored as soon as possible. `decide` gets
   * the state with all text that was sent.
   */
  commitUnwritten(decide: (state: ThreadState) => readonly EventBody[]): Promise<void> {
    this.endText();
    this.#sendPending();
    const { status } = this.#state.thread;
    this.#foldUnwritten(this.#deltas.unstored());
    this.#deltas.markStored();
    const events = this.#foldUnwritten(this.#redactor.value(decide(this.#state)));
    const sent = [...events.map((event) => withAllItems(event, this.#state)), ...this.#statusChange(status)];
    this.#state = keepLatestTurn(this.#state);
    return this.#subscribers.send(sent);
  }

  /** Sends an event that is never stored. */
  sendLive(body: EventBody): void {
    this.#sendPending();
    void this.#subscribers.send([{ ...this.#redactor.value(body), at: this.#clock.now() }]);
  }

  /** Adds a piece of streamed text: sent within this tick, stored within 100 ms. */
  delta(target: DeltaTarget, piece: string): void {
    this.#deltas.push(target, piece, () => textLength(this.#state, target));
    if (this.#deltas.pendingSize >= LIMITS.deltaBytes) this.#sendPending();
    if (this.#isSendScheduled) return;
    this.#isSendScheduled = true;
    void THIS_TICK.then(this.#sendPendingInTick);
  }

  /** Ends the text of an item, or of all: text that was held back is sent as it is. */
  endText(itemId?: string): void {
    this.#deltas.finish((target) => textLength(this.#state, target), itemId);
  }

  /** Resolves when everything so far was sent. */
  drained(): Promise<void> {
    return this.#subscribers.send([]);
  }

  /** Subscribes to the log; the subscriber has everything up to `afterSeq`. */
  subscribe(subscriber: Subscriber, afterSeq: number): Subscription {
    const log = {
      settle: () => ({ state: this.current(), sentSeq: this.#subscribers.sentSeq }),
      read: this.#read,
      now: () => this.#clock.now(),
    };
    const subscription = new Subscription(log, subscriber, afterSeq);
    this.#subscribers.add(subscription);
    return subscription;
  }

  unsubscribe(subscription: Subscription): void {
    this.#subscribers.remove(subscription);
  }

  /** Sends a final event to all subscribers and removes them. */
  sendFinal(body: EventBody): void {
    this.#subscribers.sendFinal({ ...this.#redactor.value(body), at: this.#clock.now() });
  }

  /** Stores and sends what is left and closes the writer. Sends `thread/closed` unless `sendFinal` follows. */
  async close(hasFinalEvent = false): Promise<void> {
    this.current();
    this.#closed = true;
    await this.#subscribers.send(hasFinalEvent ? [] : [this.#unloadedEvent()]);
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

  /** Appends what was sent before, then `bodies`, in one write; only `bodies` still have to be sent. */
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
      // The write failed. Nothing is lost yet: what was sent already is retried with the next write.
      const failure = asFlintError(error);
      this.#onFailure?.(failure);
      throw failure;
    }
  }

  #sendPending(): void {
    if (!this.#deltas.hasPending) return;
    const at = this.#clock.now();
    void this.#subscribers.send(this.#deltas.takePending().map(({ type, data }) => ({ type, data, at })));
    if (this.#deltas.unstoredBytes >= LIMITS.deltaBytes) this.#flush();
    else this.#flushLater(at);
  }

  /** Preferably right behind a piece that was just sent, so that the next one rarely waits for the disk. */
  #flushLater(now: number): void {
    if (this.#cancelFlush === undefined) {
      this.#unstoredSince = now;
      this.#cancelFlush = this.#clock.after(LIMITS.deltaMilliseconds, this.#flushInTick);
    } else if (now - this.#unstoredSince >= EARLY_FLUSH_MS) {
      // Subscribers send in this tick too, and were called before.
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
      // `onFailure` stops the running turn; without a turn nothing else depends on it.
    }
  }

  #statusChange(before: ThreadState["thread"]["status"]): ThreadEvent[] {
    const { id: threadId, status } = this.#state.thread;
    if (isSameStatus(status, before)) return [];
    return [{ type: "thread/status/changed", data: { threadId, status }, at: this.#clock.now() }];
  }

  /** Drops older turns from memory, and writes a checkpoint if a turn ended or the listing changed. */
  #afterFold(turnEnded: boolean): void {
    if (this.#state.activeTurnId === undefined) this.#deltas.reset();
    this.#state = keepLatestTurn(this.#state);
    if (!turnEnded && hasSameListing(this.#state.thread, this.#checkpointed)) return;
    this.#checkpointed = this.#state.thread;
    this.#writer.checkpoint(this.#state);
  }

  /** An answer that is not safely on the disk must not be acted upon: the running turn stops, and clients are warned. */
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
  const message = `Thread ${threadId} was just unloaded; try again.`;
  return new FlintError("overloaded", message, { threadId });
}
