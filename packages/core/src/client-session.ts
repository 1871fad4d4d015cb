import {
  type EventBody,
  lazy,
  type Method,
  mintId,
  type Params,
  type Result,
  type ThreadEvent,
} from "@flint/protocol";
import type { Announcements } from "./thread/announcements.ts";
import type { LiveThread } from "./thread/live-thread.ts";
import type { Subscriber, Subscription } from "./thread/subscription.ts";

/** An event that is told to one client only; with its number if it is in the log. */
export type InitialEvent = EventBody & { readonly seq?: number };

/** From where, and with what first, a client follows a thread. */
export interface SubscriptionStart {
  readonly afterSeq: number;
  /** Told to this client only, before anything else. */
  readonly first: readonly InitialEvent[];
}

/** Whoever answers the calls of a client. */
export interface MethodCaller {
  call<Name extends Method>(
    client: ClientSession,
    method: Name,
    params: Params<Name>,
    respond: (result: Result<Name>) => void,
  ): Promise<void>;
}

/** One connected client: what it calls, and which threads it follows. */
export class ClientSession {
  /** Where its threads begin and its commands run if it does not say; undefined: where the server works. */
  readonly cwd: string | undefined;
  // Few clients are ever named; the first id of a process takes longer to make than the rest of a connection.
  readonly #id = lazy(() => mintId());
  readonly #engine: MethodCaller;
  readonly #subscriber: Subscriber;
  readonly #announcements: Announcements;
  readonly #subscriptions = new Map<string, { thread: LiveThread; subscription: Subscription }>();
  #closed = false;

  constructor(engine: MethodCaller, follower: Subscriber, announcements: Announcements, cwd?: string) {
    this.cwd = cwd;
    this.#engine = engine;
    this.#subscriber = follower;
    this.#announcements = announcements;
    if (follower.announce !== undefined) announcements.add(this);
  }

  /** What this client is called where it is said who answered. */
  get id(): string {
    return this.#id();
  }

  /**
   * Calls a method. `respond` gets the result before any event that the call causes is told to this client.
   * Rejects with a FlintError if there is no result.
   */
  call<Name extends Method>(
    method: Name,
    params: Params<Name>,
    respond: (result: Result<Name>) => void,
  ): Promise<void> {
    return this.#engine.call(this, method, params, respond);
  }

  /** Whether this client follows a thread. */
  isSubscribed(threadId: string): boolean {
    return this.#subscriptions.get(threadId)?.subscription.isClosed === false;
  }

  /** Whether this client follows a thread that nobody else follows. */
  isOnlySubscriber(threadId: string): boolean {
    const followed = this.#subscriptions.get(threadId);
    return followed !== undefined && followed.thread.log.subscriberCount <= 1;
  }

  /** To be called when the client can take more again. */
  drained(): void {
    for (const { subscription } of this.#subscriptions.values()) void subscription.catchUp();
  }

  /** Begins to follow a thread, or begins anew from another place. */
  subscribe(thread: LiveThread, { afterSeq, first }: SubscriptionStart, at: number): void {
    if (this.#closed) return;
    this.unsubscribe(thread.id);
    this.#forgetClosed();
    const subscription = thread.log.subscribe(this.#subscriber, afterSeq);
    this.#subscriptions.set(thread.id, { thread, subscription });
    void subscription.start(first.map((body) => ({ ...body, at })));
  }

  unsubscribe(threadId: string): void {
    const followed = this.#subscriptions.get(threadId);
    if (followed === undefined) return;
    followed.thread.log.unsubscribe(followed.subscription);
    this.#subscriptions.delete(threadId);
  }

  /**
   * Passes on what happens in threads that this client does not follow; of the others it hears anyway. Whoever does not
   * read is told nothing of it, so that nothing piles up; the next list has it all.
   */
  announce(event: ThreadEvent): void {
    const { threadId } = threadOf(event);
    if (this.#subscriber.isFull()) return;
    if (!this.isSubscribed(threadId)) this.#subscriber.announce?.(event);
  }

  /** The client is gone; what it started goes on. */
  close(): void {
    this.#closed = true;
    this.#announcements.remove(this);
    for (const threadId of [...this.#subscriptions.keys()]) this.unsubscribe(threadId);
  }

  /** Threads that were deleted or could not be read on have let go of us already. */
  #forgetClosed(): void {
    for (const [threadId, { subscription }] of this.#subscriptions) {
      if (subscription.isClosed) this.#subscriptions.delete(threadId);
    }
  }
}

function threadOf({ type, data }: ThreadEvent): { readonly threadId: string } {
  return type === "thread/started" ? { threadId: data.thread.id } : { threadId: data.threadId ?? "" };
}
