import {
  asFlintError,
  type DeltaBody,
  type EventBody,
  isDelta,
  type StoredEvent,
  type ThreadEvent,
  type ThreadState,
} from "@flint/protocol";
import { StreamMap } from "./stream-map.ts";

/** Receives the events of threads. */
export interface Subscriber {
  send(event: ThreadEvent): void;
  /** True while it cannot take more. Its subscriptions then read the log at its own speed. */
  isFull(): boolean;
  /** Set to also receive the events that change the list of threads, of threads that it is not subscribed to. */
  announce?(event: ThreadEvent): void;
}

/** The parts of a thread's log that a subscription uses. */
export interface SubscribedLog {
  /** Stores what was sent, so that the log contains all of it, and returns how far it was sent. */
  settle(): { readonly state: ThreadState; readonly sentSeq: number };
  read(afterSeq: number): AsyncIterable<StoredEvent>;
  now(): number;
}

/**
 * One subscriber of one thread. Live while the subscriber keeps up; otherwise it reads the log until it has caught up.
 * Nothing is lost, nothing is sent twice, and nothing piles up in memory.
 */
export class Subscription {
  readonly #subscriber: Subscriber;
  readonly #log: SubscribedLog;
  readonly #sentText = new SentText();
  /** The open requests that the subscriber knows. */
  readonly #sentRequests = new Set<string>();
  #cursor: number;
  #live = false;
  #hasSentOpenRequests = false;
  #closed = false;
  #catchingUp = false;

  /** The subscriber has everything up to `afterSeq`. */
  constructor(log: SubscribedLog, subscriber: Subscriber, afterSeq: number) {
    this.#log = log;
    this.#subscriber = subscriber;
    this.#cursor = afterSeq;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Sends `first` before everything else, then catches up. */
  start(first: readonly ThreadEvent[]): Promise<void> {
    try {
      for (const event of first) this.#send(event);
    } catch (error) {
      // The subscriber failed.
      this.#fail(asFlintError(error).message);
    }
    return this.catchUp();
  }

  /** Sends a live event, unless the subscriber is behind. */
  receive(event: ThreadEvent): void {
    if (!this.#live || this.#closed) return;
    if (event.seq !== undefined && event.seq <= this.#cursor) return;
    if (this.#subscriber.isFull()) this.#live = false;
    else this.#send(event);
  }

  /** Everything up to here was sent in another form, so it need not be read from the log. */
  skipTo(seq: number): void {
    if (!this.#live || seq <= this.#cursor) return;
    this.#cursor = seq;
    this.#sentText.clear();
  }

  /** Reads the log until it is live again or the subscriber is full. Safe to call at any time. Never rejects. */
  async catchUp(): Promise<void> {
    if (this.#catchingUp) return;
    this.#catchingUp = true;
    try {
      // The subscriber may have drained while the log was read, and does not report that twice.
      while (!this.#closed && !this.#live) if (!(await this.#readMore()) && this.#subscriber.isFull()) return;
    } catch (error) {
      // Either the log cannot be read, or the subscriber failed.
      this.#fail(asFlintError(error).message);
    } finally {
      this.#catchingUp = false;
    }
  }

  /** Sends a final event and closes, even if the subscriber is behind. */
  sendFinal(event: ThreadEvent): void {
    this.#closed = true;
    this.#subscriber.send(event);
  }

  close(): void {
    this.#closed = true;
  }

  /** False if the subscriber is full; it will call `drained`. */
  async #readMore(): Promise<boolean> {
    const { sentSeq, state } = this.#log.settle();
    if (this.#cursor >= sentSeq) {
      this.#goLive(state);
      return true;
    }
    for await (const event of this.#log.read(this.#cursor)) {
      if (this.#closed || event.seq > sentSeq) break;
      if (this.#subscriber.isFull()) return false;
      const part = isStale(event, state) ? undefined : this.#sentText.unsentPartOf(event);
      if (part === undefined) this.#cursor = event.seq;
      else this.#send(part);
    }
    // Records that cannot be read were reported when the thread was opened.
    this.#cursor = Math.max(this.#cursor, sentSeq);
    return true;
  }

  /** A late subscriber also gets the open requests from before its start. */
  #goLive(state: ThreadState): void {
    this.#sentText.clear();
    this.#live = true;
    if (this.#hasSentOpenRequests) return;
    this.#hasSentOpenRequests = true;
    for (const body of openRequests(state)) this.#send({ ...body, at: this.#log.now() });
  }

  #send(event: ThreadEvent): void {
    if (event.seq === undefined && isDelta(event)) {
      this.#subscriber.send(event);
      this.#sentText.add(event);
      return;
    }
    if (!this.#isRepeatedRequest(event)) this.#subscriber.send(event);
    if (event.seq !== undefined) this.#cursor = event.seq;
  }

  #isRepeatedRequest(event: ThreadEvent): boolean {
    if (event.type === "approval/resolved") this.#sentRequests.delete(event.data.approvalId);
    if (event.type === "question/resolved") this.#sentRequests.delete(event.data.questionId);
    if (event.type === "tool/resolved") this.#sentRequests.delete(event.data.callId);
    const id = requestId(event);
    if (id === undefined) return false;
    const isRepeated = this.#sentRequests.has(id);
    this.#sentRequests.add(id);
    return isRepeated;
  }

  #fail(message: string): void {
    this.#closed = true;
    const { thread } = this.#log.settle().state;
    const data = {
      threadId: thread.id,
      message: `Thread ${thread.id} is no longer sent to you: ${message} Attach to it again.`,
      reason: "followingFailed",
    };
    try {
      this.#subscriber.send({ type: "warning", data, at: this.#log.now() });
    } catch {
      // The subscriber failed, so there is no one to warn.
    }
  }
}

function requestId(event: EventBody): string | undefined {
  if (event.type === "approval/requested") return event.data.approval.id;
  const isAsked = event.type === "question/requested" || event.type === "tool/requested";
  return isAsked ? event.data.request.id : undefined;
}

/** An answered request must not be asked again when history is replayed. */
function isStale(event: StoredEvent, { approvals, questions, toolCalls }: ThreadState): boolean {
  const id = requestId(event);
  return id !== undefined && ![...approvals, ...questions, ...toolCalls].some((open) => open.id === id);
}

function openRequests({ thread, approvals, questions, toolCalls }: ThreadState): EventBody[] {
  const threadId = thread.id;
  return [
    ...approvals.map((approval): EventBody => ({ type: "approval/requested", data: { threadId, approval } })),
    ...questions.map((request): EventBody => ({ type: "question/requested", data: { threadId, request } })),
    ...toolCalls.map((request): EventBody => ({ type: "tool/requested", data: { threadId, request } })),
  ];
}

const atStart = () => ({ end: 0 });

/**
 * Remembers the streamed text that was sent before it was stored. A subscriber that then falls behind finds the same
 * text in the log, merged with what came after it; this removes the part that it already has.
 */
export class SentText {
  /** The end of the text that was sent, by item. */
  readonly #ends = new StreamMap<{ end: number }>();

  /** Records a piece that was sent before it was stored. */
  add({ type, data }: DeltaBody): void {
    this.#ends.getOrCreate(type, data.itemId, atStart).end = data.offset + data.delta.length;
  }

  /** The event without the text that was already sent; undefined if nothing is left. */
  unsentPartOf(event: StoredEvent): ThreadEvent | undefined {
    if (!isDelta(event)) return event;
    const { type, data } = event;
    const end = this.#ends.get(type, data.itemId)?.end ?? 0;
    if (end <= data.offset) return event;
    const delta = data.delta.slice(end - data.offset);
    return delta === "" ? undefined : { ...event, data: { ...data, delta, offset: end } };
  }

  /** Forgets everything, because all of it is in the log now, before the subscriber's position. */
  clear(): void {
    if (this.#ends.size > 0) this.#ends.clear();
  }
}
