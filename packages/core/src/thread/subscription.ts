import {
  asFlintError,
  type EventBody,
  isDelta,
  type StoredEvent,
  type ThreadEvent,
  type ThreadState,
} from "@flint/protocol";
import { SentText } from "./sent-text.ts";

/** Somebody who wants to know what happens in threads. */
export interface Subscriber {
  send(event: ThreadEvent): void;
  /** True while it cannot take more; it then follows the log at its own speed. */
  isFull(): boolean;
  /** Set by those who also want to hear what changes the list of threads, of threads that they do not follow. */
  announce?(event: ThreadEvent): void;
}

/** What a subscription needs of the log it follows. */
export interface SubscribedLog {
  /** Stores what was told, so that the log holds all of it, and says how far it was told. */
  settle(): { readonly state: ThreadState; readonly toldSeq: number };
  read(afterSeq: number): AsyncIterable<StoredEvent>;
  now(): number;
}

/**
 * One follower of one thread: live while it keeps up; behind, it reads the log from where it stands until it has
 * caught up. Nothing is lost, nothing piles up in memory, nothing comes twice.
 */
export class Subscription {
  readonly #subscriber: Subscriber;
  readonly #log: SubscribedLog;
  readonly #sentText = new SentText();
  /** The open requests that the follower was told of. */
  readonly #sentRequests = new Set<string>();
  #cursor: number;
  #live = false;
  #hasSentOpenRequests = false;
  #closed = false;
  #catchingUp = false;

  /** The follower has seen everything up to `afterSeq`. */
  constructor(log: SubscribedLog, follower: Subscriber, afterSeq: number) {
    this.#log = log;
    this.#subscriber = follower;
    this.#cursor = afterSeq;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Tells what comes before everything else, then catches up. */
  start(first: readonly ThreadEvent[]): Promise<void> {
    try {
      for (const event of first) this.#send(event);
    } catch (error) {
      // The follower cannot be told anything.
      this.#fail(asFlintError(error).message);
    }
    return this.catchUp();
  }

  /** Takes an event as it happens. */
  receive(event: ThreadEvent): void {
    if (!this.#live || this.#closed) return;
    if (event.seq !== undefined && event.seq <= this.#cursor) return;
    if (this.#subscriber.isFull()) this.#live = false;
    else this.#send(event);
  }

  /** All up to here was told in another form; it need not be told from the log. */
  skipTo(seq: number): void {
    if (!this.#live || seq <= this.#cursor) return;
    this.#cursor = seq;
    this.#sentText.clear();
  }

  /** Reads on from the log until it is live again or the follower is full. Safe to call at any time. Never rejects. */
  async catchUp(): Promise<void> {
    if (this.#catchingUp) return;
    this.#catchingUp = true;
    try {
      // Room that was made while the log was read counts too: nobody will say again that there is some.
      while (!this.#closed && !this.#live) if (!(await this.#readMore()) && this.#subscriber.isFull()) return;
    } catch (error) {
      // Either the log cannot be read, or the follower cannot be told anything.
      this.#fail(asFlintError(error).message);
    } finally {
      this.#catchingUp = false;
    }
  }

  /** Tells one last thing, whatever else there was to tell. */
  sendFinal(event: ThreadEvent): void {
    this.#closed = true;
    this.#subscriber.send(event);
  }

  close(): void {
    this.#closed = true;
  }

  /** False: the follower is full and will say when it is not. */
  async #readMore(): Promise<boolean> {
    const { toldSeq, state } = this.#log.settle();
    if (this.#cursor >= toldSeq) {
      this.#goLive(state);
      return true;
    }
    for await (const event of this.#log.read(this.#cursor)) {
      if (this.#closed || event.seq > toldSeq) break;
      if (this.#subscriber.isFull()) return false;
      const part = isStale(event, state) ? undefined : this.#sentText.unsentPartOf(event);
      if (part === undefined) this.#cursor = event.seq;
      else this.#send(part);
    }
    // What could not be read is a hole in the log; it was reported when the thread was opened.
    this.#cursor = Math.max(this.#cursor, toldSeq);
    return true;
  }

  /** Whoever joins late is asked too: what was requested before the place where it began. */
  #goLive(state: ThreadState): void {
    this.#sentText.clear();
    this.#live = true;
    if (this.#hasSentOpenRequests) return;
    this.#hasSentOpenRequests = true;
    for (const body of openRequests(state)) this.#send({ ...body, at: this.#log.now() });
  }

  #send(event: ThreadEvent): void {
    if (!this.#isRepeatedRequest(event)) this.#subscriber.send(event);
    if (event.seq !== undefined) this.#cursor = event.seq;
    else if (isDelta(event)) this.#sentText.add(event);
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
      message: `Thread ${thread.id} is not followed any more: ${message} Attach to it again.`,
      reason: "followingFailed",
    };
    try {
      this.#subscriber.send({ type: "warning", data, at: this.#log.now() });
    } catch {
      // A follower that cannot be told anything is gone.
    }
  }
}

function requestId(event: EventBody): string | undefined {
  if (event.type === "approval/requested") return event.data.approval.id;
  const isAsked = event.type === "question/requested" || event.type === "tool/requested";
  return isAsked ? event.data.request.id : undefined;
}

/** A question that has its answer already must not be asked again when history is replayed. */
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
