import { type Method, NO_USAGE, type Params, type Result } from "@flint/protocol";
import { ChildEvents } from "../child/child-events.ts";
import { isReadOnly, viewThread, viewTurn } from "../child/child-view.ts";
import { type FoundChild, turnOfChild } from "../child/find-child.ts";
import type { LiveThread } from "../thread/live-thread.ts";
import type { HandlerContext, SubscriptionStart } from "./handler.ts";
import { collect, isTruncated } from "./history.ts";

/** Context of a handler for a child thread. */
interface ChildContext extends HandlerContext {
  readonly found: FoundChild;
}

/** The same for one that runs in the queue of the thread that has the log. */
interface LiveChildContext extends ChildContext {
  readonly thread: LiveThread;
}

type ReadMethod = "thread/read" | "thread/events/list";
type FollowMethod = "thread/attach" | "thread/resume";

/** Reads the log without loading the thread that it belongs to. */
type ReadHandlers = {
  readonly [Name in ReadMethod]: (params: Params<Name>, context: ChildContext) => Promise<Result<Name>>;
};

/** Reads the log and follows it. */
type FollowHandlers = {
  readonly [Name in FollowMethod]: (
    params: Params<Name>,
    context: LiveChildContext,
  ) => Promise<{ readonly result: Result<Name>; readonly subscribe: SubscriptionStart }>;
};

/** Calls a method of a child thread. Rejects what is more than reading: its agent takes no input there. */
export async function callChild(
  method: Method,
  params: object,
  context: ChildContext,
  respond: (result: never) => void,
): Promise<void> {
  const { services, client, found } = context;
  // The params are those of the method, which has a row in one of the tables; so is the result.
  const call = { params, respond } as { params: never; respond: (result: unknown) => void };
  if (isRow(READ, method)) {
    call.respond(await READ[method](call.params, context));
  } else if (isRow(FOLLOW, method)) {
    await services.registry.runInQueue(found.owner.id, async ({ thread }) => {
      const { result, subscribe } = await FOLLOW[method](call.params, { ...context, thread });
      await thread.log.commit([], () => {
        call.respond(result);
        client.subscribe(thread, subscribe, services.options.clock.now());
      });
    });
  } else throw isReadOnly(found.child, found.owner);
}

function isRow<Table extends object>(table: Table, name: PropertyKey): name is keyof Table {
  return Object.hasOwn(table, name);
}

const READ: ReadHandlers = {
  async "thread/read"({ includeTurns }, { services, found }) {
    const thread = viewThread(found.owner, found.child);
    if (includeTurns !== true) return { thread };
    const turn = await turnOfChild(services.registry.storeOf(found.owner.id), found);
    return { thread, turns: [viewTurn(found.child, turn)] };
  },

  async "thread/events/list"(
    { afterSeq = 0, limit = Number.POSITIVE_INFINITY },
    { services, found: { owner, child } },
  ) {
    const store = services.registry.storeOf(owner.id);
    const { epoch } = await store.peek(owner.id);
    const { items } = await turnOfChild(store, { owner, child });
    const events = new ChildEvents(child, items).stored(store.read(owner.id, afterSeq));
    return { thread: viewThread(owner, child), epoch, ...(await collect(events, limit)) };
  },
};

const FOLLOW: FollowHandlers = {
  async "thread/attach"(params, context) {
    const { log } = context.thread;
    const truncated = isTruncated(params, log.epoch, log.current());
    const { child, turn, state } = await currentChild(context);
    const cursor = truncated ? undefined : params.afterSeq;
    const shown = viewTurn(child, turn);
    return {
      result: {
        thread: viewThread(state.thread, child),
        ...{ settings: state.settings, epoch: log.epoch, seq: state.seq, truncated },
        turns: cursor === undefined && params.turns !== 0 ? [shown] : [],
        openItemIds: shown.items.flatMap(({ id }) => (state.openItemIds.includes(id) ? [id] : [])),
        ...{ approvals: [], questions: [], toolCalls: [], queue: [], usage: NO_USAGE },
      },
      subscribe: {
        ...{ afterSeq: cursor ?? state.seq, first: [] },
        child: { id: child.id, events: new ChildEvents(child, turn.items) },
      },
    };
  },

  async "thread/resume"(params, context) {
    const { log } = context.thread;
    const truncated = isTruncated(params, log.epoch, log.current());
    const { child, turn, state } = await currentChild(context);
    const afterSeq = truncated ? 0 : (params.afterSeq ?? 0);
    const events = () => new ChildEvents(child, turn.items);
    const shown = viewThread(state.thread, child);
    return {
      result: { thread: shown, epoch: log.epoch, truncated, seq: await lastSeq(context, events(), afterSeq) },
      subscribe: {
        afterSeq,
        first: [{ type: "thread/started", data: { thread: shown, settings: state.settings } }],
        child: { id: child.id, events: events() },
      },
    };
  },
};

/** The child thread as it is now, with the turn that its work is in. */
async function currentChild({ services, thread, found }: LiveChildContext) {
  const read = await turnOfChild(services.registry.storeOf(thread.id), found);
  const state = thread.log.current();
  const { turns, thread: owner } = state;
  const turn = turns.findLast(({ id }) => id === read.id) ?? read;
  const child = owner.childThreads?.find(({ id }) => id === found.child.id) ?? found.child;
  return { child, turn, state };
}

/** The number of the last event of a child thread; `afterSeq` if there is none after it. */
async function lastSeq(
  { services, thread }: LiveChildContext,
  events: ChildEvents,
  afterSeq: number,
): Promise<number> {
  const log = services.registry.storeOf(thread.id).read(thread.id, afterSeq);
  let last = afterSeq;
  for await (const { seq } of events.stored(log)) last = seq;
  return last;
}
