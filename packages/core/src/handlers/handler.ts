import type { EventBody, Method, Params, Result, ThreadMethod } from "@flint/protocol";
import type { ChildEvents } from "../child/child-events.ts";
import type { Damage } from "../ports/index.ts";
import type { Services } from "../services.ts";
import type { LiveThread } from "../thread/live-thread.ts";

/** An event for one client only; with its number if it is in the log. */
export type InitialEvent = EventBody & { readonly seq?: number };

/** The point from which a subscription starts. */
export interface SubscriptionStart {
  /** The client has everything up to this number. */
  readonly afterSeq: number;
  /** Sent to this client only, before anything else. */
  readonly first: readonly InitialEvent[];
  /** Set to follow only the work of a sub-agent, as the thread with this id. */
  readonly child?: { readonly id: string; readonly events: ChildEvents };
}

/** The client that called. */
export interface CallingClient {
  /** Identifies the client where it is recorded who answered. */
  readonly id: string;
  /** The name it gave itself, shown to the other clients of its threads; undefined if it gave none. */
  readonly name: string | undefined;
  /** Notes what it calls itself. */
  introduce(name: string): void;
  /** Default folder of its threads and commands; undefined: the server's own folder. */
  readonly cwd: string | undefined;
  isSubscribed(threadId: string): boolean;
  subscribe(thread: LiveThread, start: SubscriptionStart, at: number): void;
  unsubscribe(threadId: string): void;
  /** Sends it the events of tasks from now on. */
  subscribeToTasks(): void;
}

/** Context of a handler, beside its params. */
export interface HandlerContext {
  readonly services: Services;
  readonly client: CallingClient;
}

/** Context of a handler in the queue of a thread. */
export interface ThreadContext extends HandlerContext {
  readonly thread: LiveThread;
  readonly damage: Damage;
}

/**
 * The outcome of a handler, carried out in this order: `events` are stored, the result is sent, the client is
 * subscribed, the events are sent, `after` runs. If the handler throws, none of it happens.
 */
export interface ThreadOutcome<Name extends Method> {
  readonly result: Result<Name>;
  readonly events?: readonly EventBody[];
  readonly subscribe?: SubscriptionStart;
  after?(): void;
  /** Runs last, even if the events could not be stored. */
  release?(): void;
}

/**
 * Input that was sent to the agent of the running turn. The queue of the thread goes on while the agent has not answered:
 * some agents answer only when their running command has ended.
 */
export interface SentInput<Name extends Method> {
  /** Resolves with what lets the turn end again if the agent accepted the input; undefined: it did not. */
  readonly answer: Promise<(() => void) | undefined>;
  /**
   * Returns the outcome once it was accepted. Outside of the queue, in which a method may wait for the end of
   * the turn.
   */
  accepted(): ThreadOutcome<Name>;
  /** Runs in the queue when it was not. */
  otherwise(context: ThreadContext): Promise<ThreadOutcome<Name> | SentInput<Name>>;
}

/** The outcome of a handler outside of any queue. */
export interface GlobalOutcome<Name extends Method> {
  readonly result: Result<Name>;
  /** Runs after the result was sent. */
  after?(): void;
}

/** `answered`: the handler sent the result itself, when the log had stored its events. */
export type GlobalHandler<Name extends Method> = (
  params: Params<Name>,
  context: HandlerContext,
  respond: (result: Result<Name>) => void,
) => Promise<GlobalOutcome<Name> | "answered">;

/** A handler that runs in the queue of its thread. */
export type ThreadHandler<Name extends Method> = (
  params: Params<Name>,
  context: ThreadContext,
) => Promise<ThreadOutcome<Name> | SentInput<Name>>;

/** The handlers that run in a thread's queue. */
export type ThreadHandlers = { readonly [Name in ThreadMethod]: ThreadHandler<Name> };
/** All other handlers. */
export type GlobalHandlers = { readonly [Name in Exclude<Method, ThreadMethod>]: GlobalHandler<Name> };
