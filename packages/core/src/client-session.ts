import {
  FlintError,
  lazy,
  METHODS,
  type Method,
  mintId,
  type Params,
  type Result,
  type ThreadEvent,
  type ThreadMethod,
  threadIdOf,
} from "@flint/protocol";
import { childSubscriber } from "./child/child-events.ts";
import { findChild, isMissingThread } from "./child/find-child.ts";
import { accountHandlers } from "./handlers/account.ts";
import { approvalHandlers } from "./handlers/approval.ts";
import { branchHandlers } from "./handlers/branch.ts";
import { callChild } from "./handlers/child.ts";
import { configHandlers } from "./handlers/config.ts";
import { goalHandlers } from "./handlers/goal.ts";
import type {
  CallingClient,
  GlobalHandler,
  GlobalHandlers,
  SubscriptionStart,
  ThreadContext,
  ThreadHandler,
  ThreadHandlers,
  ThreadOutcome,
} from "./handlers/handler.ts";
import { historyHandlers } from "./handlers/history.ts";
import { importHandlers } from "./handlers/import.ts";
import { queueHandlers } from "./handlers/queue.ts";
import { taskHandlers } from "./handlers/task.ts";
import { backgroundHandlers, threadHandlers } from "./handlers/thread.ts";
import { turnHandlers } from "./handlers/turn.ts";
import { workspaceHandlers } from "./handlers/workspace.ts";
import type { ClientHost } from "./ports/index.ts";
import type { Services } from "./services.ts";
import { wellFormed } from "./text/characters.ts";
import type { Listener } from "./thread/announcements.ts";
import { withClientName } from "./thread/announcements.ts";
import type { LiveThread } from "./thread/live-thread.ts";
import type { Subscriber, Subscription } from "./thread/subscription.ts";

/** The handler of every method. A method without one does not compile. */
const HANDLERS: GlobalHandlers & ThreadHandlers = {
  ...threadHandlers,
  ...historyHandlers,
  ...importHandlers,
  ...turnHandlers,
  ...backgroundHandlers,
  ...goalHandlers,
  ...queueHandlers,
  ...branchHandlers,
  ...approvalHandlers,
  ...configHandlers,
  ...accountHandlers,
  ...workspaceHandlers,
  ...taskHandlers,
};

/** Longer names of clients are cut: they stand behind what the client did. */
const MAX_NAME = 60;

/** One connected client, as the core knows it: it calls methods and subscribes to threads. */
export class ClientSession implements CallingClient {
  readonly cwd: string | undefined;
  // Minted on first use: most clients never need an id, and the first one of a process is slow to make.
  readonly #id = lazy(() => mintId());
  readonly #services: Services;
  readonly #subscriber: Subscriber;
  readonly #subscriptions = new Map<string, { thread: LiveThread; subscription: Subscription }>();
  /** The hosts that this client provides, by thread. */
  readonly #hosts = new Map<string, ClientHost>();
  /** Sends the events of tasks, and drops them while the client cannot take more: `task/list` has the same information. */
  readonly #taskSubscriber: Listener = {
    announce: (event) => {
      if (!this.#subscriber.isFull()) this.#subscriber.send(event);
    },
  };
  #name: string | undefined;
  #closed = false;

  constructor(services: Services, subscriber: Subscriber, cwd?: string) {
    this.cwd = cwd;
    this.#services = services;
    this.#subscriber = subscriber;
    if (subscriber.announce !== undefined) services.announcements.add(this);
  }

  get id(): string {
    return this.#id();
  }

  get name(): string | undefined {
    return this.#name;
  }

  introduce(name: string): void {
    const shown = name.trim().slice(0, MAX_NAME);
    this.#name = shown === "" ? undefined : shown;
  }

  /**
   * Calls a method, in the queue of its thread if its row has that scope. `respond` receives the result before this client is
   * sent any event that the call causes. Rejects with a FlintError, without secrets, if there is no result.
   */
  async call<Name extends Method>(
    method: Name,
    params: Params<Name>,
    respond: (result: Result<Name>) => void,
  ): Promise<void> {
    if (this.#services.isClosing) {
      throw new FlintError("overloaded", "The server is stopping; connect again in a moment.");
    }
    const reply = new Reply(respond);
    const checked = wellFormed(params);
    try {
      await this.#callOrView(method, checked, reply);
    } catch (error) {
      throw this.#services.redactor.error(error);
    }
    reply.rethrow();
  }

  /** Calls a method. If it is about the thread of a sub-agent, which has no log of its own, that thread is shown. */
  async #callOrView<Name extends Method>(
    method: Name,
    params: Params<Name>,
    reply: Reply<Result<Name>>,
  ): Promise<void> {
    try {
      if (METHODS[method].scope === "thread") {
        // The row has the scope of a thread, which the generic name does not express.
        await this.#callThread(method as ThreadMethod, params as never, reply as never);
      } else {
        await this.#callGlobal(method as Exclude<Method, ThreadMethod>, params as never, reply as never);
      }
    } catch (error) {
      const threadId = isMissingThread(error) && "threadId" in params ? params.threadId : undefined;
      const found = typeof threadId === "string" ? await findChild(this.#services, threadId) : undefined;
      if (found === undefined) throw error;
      await callChild(method, params, { services: this.#services, client: this, found }, (result) =>
        reply.send(result),
      );
    }
  }

  /** Reports whether this client is subscribed to a thread. */
  isSubscribed(threadId: string): boolean {
    return this.#subscriptions.get(threadId)?.subscription.isClosed === false;
  }

  /** Reports whether this client is the only subscriber of a thread. */
  isOnlySubscriber(threadId: string): boolean {
    const subscribed = this.#subscriptions.get(threadId);
    return subscribed !== undefined && subscribed.thread.log.subscriberCount <= 1;
  }

  /**
   * Has this client run the commands of a thread that nothing confines, and read and write its files in place of the disk,
   * until another client does or this one is gone; undefined ends that.
   */
  provideHost(threadId: string, host: ClientHost | undefined): void {
    const { clientProvided } = this.#services.registry;
    const before = this.#hosts.get(threadId);
    if (before !== undefined) clientProvided.removeHost(threadId, before);
    this.#hosts.delete(threadId);
    if (host === undefined || this.#closed) return;
    this.#hosts.set(threadId, host);
    clientProvided.setHost(threadId, host);
  }

  /** To be called when the client can take more events again. */
  drained(): void {
    for (const { subscription } of this.#subscriptions.values()) void subscription.catchUp();
  }

  /** Subscribes to a thread, or starts an existing subscription again from another position. */
  subscribe(thread: LiveThread, { afterSeq, first, child }: SubscriptionStart, at: number): void {
    if (this.#closed) return;
    const id = child?.id ?? thread.id;
    this.unsubscribe(id);
    this.#removeClosed();
    const own = this.#subscriber;
    const subscriber = child === undefined ? own : childSubscriber(own, child.events);
    const subscription = thread.log.subscribe(subscriber, afterSeq);
    this.#subscriptions.set(id, { thread, subscription });
    void subscription.start(first.map((body) => ({ ...body, at })));
  }

  unsubscribe(threadId: string): void {
    const subscribed = this.#subscriptions.get(threadId);
    if (subscribed === undefined) return;
    subscribed.thread.log.unsubscribe(subscribed.subscription);
    this.#subscriptions.delete(threadId);
  }

  /**
   * Forwards an event of a thread that this client is not subscribed to. Dropped while the client cannot take more, so
   * that nothing piles up: the next `thread/list` has the same information.
   */
  announce(event: ThreadEvent): void {
    if (this.#subscriber.isFull()) return;
    if (!this.isSubscribed(threadIdOf(event) ?? "")) this.#subscriber.announce?.(event);
  }

  subscribeToTasks(): void {
    if (!this.#closed) this.#services.taskSubscribers.add(this.#taskSubscriber);
  }

  /** Disconnects the client; its turns continue. */
  close(): void {
    this.#closed = true;
    this.#services.announcements.remove(this);
    this.#services.taskSubscribers.remove(this.#taskSubscriber);
    for (const threadId of [...this.#hosts.keys()]) this.provideHost(threadId, undefined);
    for (const threadId of [...this.#subscriptions.keys()]) this.unsubscribe(threadId);
  }

  async #callGlobal<Name extends Exclude<Method, ThreadMethod>>(
    method: Name,
    params: Params<Name>,
    reply: Reply<Result<Name>>,
  ): Promise<void> {
    // Indexing the table by a generic name gives the union of all handlers; this is the one for the name.
    const handler = HANDLERS[method] as unknown as GlobalHandler<Name>;
    const context = { services: this.#services, client: this };
    const outcome = await handler(params, context, (result) => reply.send(result));
    if (outcome === "answered") return;
    reply.send(outcome.result);
    outcome.after?.();
  }

  async #callThread<Name extends ThreadMethod>(
    method: Name,
    params: Params<Name> & { threadId: string },
    reply: Reply<Result<Name>>,
  ): Promise<void> {
    const services = this.#services;
    // The handler for the name, as in `#callGlobal`.
    const handler = HANDLERS[method] as unknown as ThreadHandler<Name>;
    let work = (context: ThreadContext) => handler(params, context);
    // Input that steers a turn waits for its agent outside of the queue, and goes on in it if it was not accepted.
    for (;;) {
      const sent = await services.registry.runInQueue(params.threadId, async ({ thread, damage }) => {
        const outcome = await work({ services, client: this, thread, damage });
        if ("answer" in outcome) return { thread, input: outcome };
        await this.#commit(thread, outcome, reply);
        return undefined;
      });
      if (sent === undefined) return;
      const { thread, input } = sent;
      const release = await input.answer;
      if (release !== undefined) {
        await this.#commit(thread, input.accepted(), reply).finally(release);
        return;
      }
      work = (context) => input.otherwise(context);
    }
  }

  async #commit<Name extends ThreadMethod>(
    thread: LiveThread,
    outcome: ThreadOutcome<Name>,
    reply: Reply<Result<Name>>,
  ): Promise<void> {
    const { result, subscribe } = outcome;
    const events = (outcome.events ?? []).map((event) => withClientName(event, this.#name));
    try {
      await thread.log.commit(events, () => {
        reply.send(result);
        if (subscribe !== undefined) this.subscribe(thread, subscribe, this.#services.options.clock.now());
      });
      outcome.after?.();
    } finally {
      outcome.release?.();
    }
  }

  /** Subscriptions also end on the thread's side: when it is deleted, or its log cannot be read. */
  #removeClosed(): void {
    for (const [threadId, { subscription }] of this.#subscriptions) {
      if (subscription.isClosed) this.#subscriptions.delete(threadId);
    }
  }
}

/** Sends a result. A failure to send must not stop the work that was called for, so it is thrown only at the end. */
class Reply<Value> {
  readonly #respond: (value: Value) => void;
  #failure: { readonly error: unknown } | undefined;

  constructor(respond: (value: Value) => void) {
    this.#respond = respond;
  }

  /** Never throws. */
  send(value: Value): void {
    try {
      this.#respond(value);
    } catch (error) {
      this.#failure = { error };
    }
  }

  /** Throws what `send` caught. */
  rethrow(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
