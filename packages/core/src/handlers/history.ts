import {
  type Approval,
  type EventBody,
  LIMITS,
  type QuestionRequest,
  type StoredEvent,
  type ThreadState,
  type Turn,
} from "@flint/protocol";
import { settingsEvents } from "../live-thread.ts";
import type { Damage, Store } from "../ports/index.ts";
import type { FreeHandlers, ThreadHandlers } from "./handler.ts";
import { startedEvent } from "./thread.ts";

/** A client further behind than this starts from the present state instead of from where it stood. */
const LONGEST_REPLAY = 50_000;
const DEFAULT_PAGE = 25;

/** Reading, following and listing threads. */
export const historyHandlers: Pick<
  FreeHandlers & ThreadHandlers,
  "thread/resume" | "thread/attach" | "thread/list" | "thread/read" | "thread/events/list"
> = {
  async "thread/resume"(params, { thread, services, damage }) {
    const settings = await services.withOverrides(thread.log.state.settings, params);
    const state = thread.log.current();
    const truncated = isTruncated(params, thread.log.epoch, state);
    const afterSeq = truncated || params.afterSeq === undefined ? 1 : params.afterSeq;
    const first = [startedEvent({ ...state, settings }), ...damageWarning(thread.id, damage)];
    return {
      result: { thread: state.thread, epoch: thread.log.epoch, truncated },
      events: settingsEvents(thread, settings),
      follow: { afterSeq, first: [...first, ...openRequests(state)] },
    };
  },

  async "thread/attach"(params, { thread, services, damage }) {
    const store = services.registry.storeOf(thread.id);
    const before = thread.log.current();
    const truncated = isTruncated(params, thread.log.epoch, before);
    const fromCursor = params.afterSeq !== undefined && !truncated;
    const limit = fromCursor ? 0 : (params.turns ?? DEFAULT_PAGE);
    const page = await latestTurns(store, thread.id, limit);
    const state = thread.log.current();
    return {
      result: {
        thread: state.thread,
        settings: state.settings,
        epoch: thread.log.epoch,
        seq: state.seq,
        truncated,
        turns: withLatest(page.turns, limit > 0 ? state.turns : []),
        ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }),
        approvals: [...state.approvals],
        questions: [...state.questions],
        queue: [...state.queue],
        usage: state.usage,
        ...(state.cost === undefined ? {} : { cost: state.cost }),
      },
      follow: {
        afterSeq: fromCursor ? (params.afterSeq ?? state.seq) : state.seq,
        first: [...damageWarning(thread.id, damage), ...openRequests(state)],
      },
    };
  },

  async "thread/list"(params, { services }) {
    const page = await services.options.store.list({
      cursor: params.cursor,
      limit: params.limit ?? DEFAULT_PAGE,
      archived: params.archived ?? false,
      searchTerm: params.searchTerm,
      cwd: params.cwd,
      sortKey: params.sortKey ?? "updatedAt",
      sortDirection: params.sortDirection ?? "desc",
    });
    const data = page.data.map((row) => services.registry.loaded(row.id)?.log.state.thread ?? row);
    return { result: page.nextCursor === undefined ? { data } : { data, nextCursor: page.nextCursor } };
  },

  async "thread/read"({ threadId, includeTurns, cursor, limit }, { services }) {
    const loaded = services.registry.loaded(threadId);
    const store = services.registry.storeOf(threadId);
    loaded?.log.current();
    const state = loaded?.log.state ?? (await store.peek(threadId)).state;
    if (includeTurns !== true) return { result: { thread: state.thread } };
    const page = await store.turns(threadId, { limit: limit ?? DEFAULT_PAGE, cursor });
    const turns = page.data.map((turn): Turn => ({ ...turn, itemsView: "full" }));
    const rest = page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor };
    return { result: { thread: state.thread, turns, ...rest } };
  },

  async "thread/events/list"({ threadId, afterSeq = 0, limit = Number.POSITIVE_INFINITY }, { services }) {
    const loaded = services.registry.loaded(threadId);
    loaded?.log.current();
    const store = services.registry.storeOf(threadId);
    const known = await store.peek(threadId);
    const { events, more } = await collect(store.read(threadId, afterSeq), limit);
    const thread = loaded?.log.state.thread ?? known.state.thread;
    return { result: { thread, epoch: known.epoch, events, more } };
  },
};

/** Whether what a client knows cannot be continued, so that it has to start from the present state. */
function isTruncated(
  { afterSeq, epoch }: { afterSeq?: number | undefined; epoch?: string | undefined },
  current: string,
  state: ThreadState,
): boolean {
  if (epoch !== undefined && epoch !== current) return true;
  return afterSeq !== undefined && (afterSeq > state.seq || state.seq - afterSeq > LONGEST_REPLAY);
}

async function latestTurns(store: Store, threadId: string, limit: number) {
  if (limit === 0) return { turns: [], nextCursor: undefined };
  const page = await store.turns(threadId, { limit: Math.min(limit, LIMITS.page), cursor: undefined });
  return { turns: page.data, nextCursor: page.nextCursor };
}

/** Turns from the log, with those that are still in memory as they are at this moment. */
function withLatest(turns: readonly Turn[], latest: readonly Turn[]): Turn[] {
  const ids = new Set(latest.map((turn) => turn.id));
  return [...turns.filter((turn) => !ids.has(turn.id)), ...latest].map((turn) => ({ ...turn, itemsView: "full" }));
}

/** What a late joiner must be asked too. */
function openRequests(state: ThreadState): EventBody[] {
  const threadId = state.thread.id;
  return [
    ...state.approvals.map(
      (approval: Approval): EventBody => ({ type: "approval/requested", data: { threadId, approval } }),
    ),
    ...state.questions.map(
      (request: QuestionRequest): EventBody => ({ type: "question/requested", data: { threadId, request } }),
    ),
  ];
}

function damageWarning(threadId: string, { records, missing }: Damage): EventBody[] {
  if (records + missing === 0) return [];
  const message = `The log of this thread is damaged: ${records} unreadable and ${missing} missing records. Everything else is intact.`;
  return [{ type: "warning", data: { threadId, message, reason: "damagedLog" } }];
}

async function collect(source: AsyncIterable<StoredEvent>, limit: number) {
  const events: StoredEvent[] = [];
  for await (const event of source) {
    if (events.length >= limit) return { events, more: true };
    events.push(event);
  }
  return { events, more: false };
}
