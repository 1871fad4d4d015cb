import type { EventBody, Method, Params, Result, ThreadMethod } from "@flint/protocol";
import type { ClientSession, SubscriptionStart } from "../client-session.ts";
import type { Damage } from "../ports/index.ts";
import type { Services } from "../services.ts";
import type { LiveThread } from "../thread/live-thread.ts";

/** What a handler knows beside its params. */
export interface HandlerContext {
  readonly services: Services;
  readonly client: ClientSession;
}

/** What a handler of a thread's queue knows. */
export interface ThreadContext extends HandlerContext {
  readonly thread: LiveThread;
  readonly damage: Damage;
}

/**
 * What a handler wants to happen, in this order: `events` are stored, the result is sent, the events are told,
 * `after` runs. Nothing of it happens if an error is thrown instead.
 */
export interface ThreadOutcome<Name extends Method> {
  readonly result: Result<Name>;
  readonly events?: readonly EventBody[];
  readonly subscribe?: SubscriptionStart;
  after?(): void;
  /** Runs last, also if the events could not be stored. */
  release?(): void;
}

/** What a handler outside of any queue gives. */
export interface FreeOutcome<Name extends Method> {
  readonly result: Result<Name>;
  /** Runs after the result is sent. */
  after?(): void;
}

/** `answered`: the handler has sent the result itself, at the moment the log allowed it. */
export type FreeHandler<Name extends Method> = (
  params: Params<Name>,
  context: HandlerContext,
  respond: (result: Result<Name>) => void,
) => Promise<FreeOutcome<Name> | "answered">;

/** A handler that runs in the queue of its thread. */
export type ThreadHandler<Name extends Method> = (
  params: Params<Name>,
  context: ThreadContext,
) => Promise<ThreadOutcome<Name>>;

/** The handlers of a thread's queue; a missing one does not compile. */
export type ThreadHandlers = { readonly [Name in ThreadMethod]: ThreadHandler<Name> };
/** All other handlers. */
export type FreeHandlers = { readonly [Name in Exclude<Method, ThreadMethod>]: FreeHandler<Name> };
