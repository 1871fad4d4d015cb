import type { StoredEvent, ThreadEvent, ThreadState } from "@flint/protocol";

/** Somebody who wants to know what happens in threads. */
export interface Follower {
  tell(event: ThreadEvent): void;
  /** True while it cannot take more; it then follows the log at its own speed. */
  full(): boolean;
}

/** What a subscription needs of the log it follows. */
export interface FollowedLog {
  /** Stores what was told, so that the log holds all of it, and says how far it was told. */
  settle(): { readonly state: ThreadState; readonly toldSeq: number };
  read(afterSeq: number): AsyncIterable<StoredEvent>;
}

/**
 * One follower of one thread: live while it keeps up; behind, it reads the log from where it stands until it has
 * caught up. Nothing is lost, nothing piles up in memory, nothing comes twice.
 */
export class Subscription {
  readonly follower: Follower;
  readonly #log: FollowedLog;
  #cursor: number;
  #live = false;
  #closed = false;
  #catchingUp = false;

  constructor(log: FollowedLog, follower: Follower, afterSeq: number) {
    this.#log = log;
    this.follower = follower;
    this.#cursor = afterSeq;
  }

  get live(): boolean {
    return this.#live;
  }

  /** Takes an event as it happens. */
  receive(event: ThreadEvent): void {
    if (!this.#live || this.#closed) return;
    if (event.seq !== undefined && event.seq <= this.#cursor) return;
    if (this.follower.full()) {
      this.#live = false;
      return;
    }
    this.follower.tell(event);
    if (event.seq !== undefined) this.#cursor = event.seq;
  }

  /** All up to here was told in another form; it need not be told from the log. */
  skipTo(seq: number): void {
    if (this.#live && seq > this.#cursor) this.#cursor = seq;
  }

  /** Reads on from the log until it is live again or the follower is full. Safe to call at any time. */
  async catchUp(): Promise<void> {
    if (this.#catchingUp) return;
    this.#catchingUp = true;
    try {
      while (!this.#closed && !this.#live) {
        if (!(await this.#readOn())) return;
      }
    } finally {
      this.#catchingUp = false;
    }
  }

  close(): void {
    this.#closed = true;
  }

  /** False: the follower is full and will say when it is not. */
  async #readOn(): Promise<boolean> {
    const { toldSeq, state } = this.#log.settle();
    if (this.#cursor >= toldSeq) {
      this.#live = true;
      return true;
    }
    for await (const event of this.#log.read(this.#cursor)) {
      if (this.#closed || event.seq > toldSeq) break;
      if (this.follower.full()) return false;
      if (!isStale(event, state)) this.follower.tell(event);
      this.#cursor = event.seq;
    }
    // What could not be read is a hole in the log; it was reported when the thread was opened.
    this.#cursor = Math.max(this.#cursor, toldSeq);
    return true;
  }
}

/** A question that has its answer already must not be asked again when history is replayed. */
function isStale(event: StoredEvent, state: ThreadState): boolean {
  if (event.type === "approval/requested") {
    return !state.approvals.some((approval) => approval.id === event.data.approval.id);
  }
  if (event.type === "question/requested") {
    return !state.questions.some((question) => question.id === event.data.request.id);
  }
  return false;
}
