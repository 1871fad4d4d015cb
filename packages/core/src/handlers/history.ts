import {
  type EventBody,
  FlintError,
  LIMITS,
  type Params,
  type Result,
  reduceThread,
  type StoredEvent,
  type Thread,
  type ThreadState,
  type Turn,
} from "@flint/protocol";
import { viewThread } from "../child/child-view.ts";
import { findChild, isMissingThread } from "../child/find-child.ts";
import type { Damage, Store } from "../ports/index.ts";
import type { Services } from "../services.ts";
import { fullTurn, usageOf } from "../thread/view.ts";
import { settingsEvents } from "../turn/decisions.ts";
import type { GlobalHandlers, ThreadHandlers } from "./handler.ts";
import { startedEvent } from "./thread.ts";

/** A client further behind than this starts from the current state instead of from its position. */
const MAX_REPLAY = 50_000;
const DEFAULT_PAGE = 25;

/** Reading, resuming, attaching to and listing threads. */
export const historyHandlers: Pick<
  GlobalHandlers & ThreadHandlers,
  "thread/resume" | "thread/attach" | "thread/list" | "thread/read" | "thread/events/list"
> = {
  async "thread/resume"(params, { thread, services, damage }) {
    const settings = await services.settings.override(thread.log.state.settings, params);
    await services.setClientMcpServers(thread, params.mcpServers);
    await services.setClientTools(thread, params.tools);
    const before = thread.log.current();
    const events = settingsEvents(before, settings);
    const at = services.options.clock.now();
    const state = events.reduce((folded, body) => reduceThread(folded, { ...body, at }), before);
    const truncated = isTruncated(params, thread.log.epoch, before);
    return {
      result: { thread: state.thread, epoch: thread.log.epoch, truncated, seq: before.seq },
      events,
      subscribe: {
        // The first event of the log is sent again in `first`.
        afterSeq: truncated || params.afterSeq === undefined ? 1 : params.afterSeq,
        first: [startedEvent(state), ...services.takeNotice(thread.id), ...damageWarning(thread.id, damage)],
      },
    };
  },

  async "thread/attach"(params, { thread, services, damage }) {
    await services.setClientMcpServers(thread, params.mcpServers);
    const store = services.registry.storeOf(thread.id);
    const truncated = isTruncated(params, thread.log.epoch, thread.log.current());
    const cursor = truncated ? undefined : params.afterSeq;
    const limit = cursor === undefined ? (params.turns ?? DEFAULT_PAGE) : 0;
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
        openItemIds: [...state.openItemIds],
        ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }),
        approvals: [...state.approvals],
        questions: [...state.questions],
        toolCalls: [...state.toolCalls],
        queue: [...state.queue],
        ...(state.agentCommands === undefined ? {} : { agentCommands: commandsOf(state.agentCommands) }),
        ...usageOf(state),
        workedMs: state.workedMs,
      },
      subscribe: {
        afterSeq: cursor ?? state.seq,
        first: [...services.takeNotice(thread.id), ...damageWarning(thread.id, damage)],
      },
    };
  },

  async "thread/list"(params, { services }) {
    if (params.parentThreadId !== undefined) return { result: await childrenOf(services, params) };
    const page = await services.options.store.list({
      cursor: params.cursor,
      limit: params.limit ?? DEFAULT_PAGE,
      archived: params.archived ?? false,
      searchTerm: params.searchTerm,
      cwd: params.cwd,
      ofTasks: params.ofTasks,
      sortKey: params.sortKey ?? "updatedAt",
      sortDirection: params.sortDirection ?? "desc",
    });
    const data = page.data.map((row) => services.registry.loaded(row.id)?.log.state.thread ?? notLoaded(row));
    return { result: page.nextCursor === undefined ? { data } : { data, nextCursor: page.nextCursor } };
  },

  async "thread/read"({ threadId, includeTurns, cursor, limit }, { services }) {
    const { thread } = await readState(services, threadId);
    if (includeTurns !== true) return { result: { thread } };
    const store = services.registry.storeOf(threadId);
    const page = await store.turns(threadId, { limit: limit ?? DEFAULT_PAGE, cursor });
    const turns = page.data.map(fullTurn);
    return {
      result: { thread, turns, ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }) },
    };
  },

  async "thread/events/list"({ threadId, afterSeq = 0, limit = Number.POSITIVE_INFINITY }, { services }) {
    const { thread, epoch } = await readState(services, threadId);
    const store = services.registry.storeOf(threadId);
    return { result: { thread, epoch, ...(await collect(store.read(threadId, afterSeq), limit)) } };
  },
};

/** The threads of the sub-agents that a thread, or a sub-agent of one, has started. They come on one page. */
async function childrenOf(services: Services, params: Params<"thread/list">): Promise<Result<"thread/list">> {
  const { parentThreadId = "", limit = LIMITS.threads, sortKey = "updatedAt", searchTerm = "" } = params;
  const owner = await ownerOf(services, parentThreadId);
  const sign = params.sortDirection === "asc" ? 1 : -1;
  const data = (owner.childThreads ?? [])
    .filter((child) => child.reverted !== true && (child.parentThreadId ?? owner.id) === parentThreadId)
    .map((child) => viewThread(owner, child))
    .filter(({ preview, name = "" }) =>
      `${name}\n${preview}`.toLowerCase().includes(searchTerm.toLowerCase()),
    )
    .sort((left, right) => sign * (left[sortKey] - right[sortKey]));
  return { data: data.slice(0, limit) };
}

/** The thread whose log has the work of the sub-agents of a thread. */
async function ownerOf(services: Services, threadId: string): Promise<Thread> {
  try {
    return (await readState(services, threadId)).thread;
  } catch (error) {
    const found = isMissingThread(error) ? await findChild(services, threadId) : undefined;
    if (found === undefined) throw error;
    return found.owner;
  }
}

/** The current state of a thread, with everything that happened in its log. It is loaded only if a turn was cut off in it. */
async function readState(services: Services, threadId: string): Promise<{ thread: Thread; epoch: string }> {
  const { registry } = services;
  if (registry.loaded(threadId) === undefined) {
    const { state, epoch } = await registry.storeOf(threadId).peek(threadId);
    if (state.activeTurnId === undefined) return { thread: notLoaded(state.thread), epoch };
    if (await isWrittenElsewhere(services, threadId)) return { thread: state.thread, epoch };
  }
  const { log } = (await registry.load(threadId)).thread;
  return { thread: log.current().thread, epoch: log.epoch };
}

async function isWrittenElsewhere({ registry }: Services, threadId: string): Promise<boolean> {
  try {
    await registry.load(threadId);
    return false;
  } catch (error) {
    // Another process is running the turn.
    if (error instanceof FlintError && error.kind === "threadLocked") return true;
    throw error;
  }
}

function commandsOf({ agent, commands }: NonNullable<ThreadState["agentCommands"]>) {
  return { agent, commands: [...commands] };
}

/** A thread that is not loaded is not active, whatever its last server stored. */
function notLoaded(thread: Thread): Thread {
  return { ...thread, status: { type: "notLoaded" } };
}

/** Reports whether a client cannot continue from its position and has to start from the current state. */
export function isTruncated(
  { afterSeq, epoch }: { afterSeq?: number | undefined; epoch?: string | undefined },
  current: string,
  state: ThreadState,
): boolean {
  if (epoch !== undefined && epoch !== current) return true;
  return afterSeq !== undefined && (afterSeq > state.seq || state.seq - afterSeq > MAX_REPLAY);
}

async function latestTurns(store: Store, threadId: string, limit: number) {
  if (limit === 0) return { turns: [], nextCursor: undefined };
  const page = await store.turns(threadId, { limit: Math.min(limit, LIMITS.page), cursor: undefined });
  return { turns: page.data, nextCursor: page.nextCursor };
}

/** Turns from the log, with those in memory in their current state. */
function withLatest(turns: readonly Turn[], latest: readonly Turn[]): Turn[] {
  const ids = new Set(latest.map((turn) => turn.id));
  return [...turns.filter((turn) => !ids.has(turn.id)), ...latest].map(fullTurn);
}

function damageWarning(threadId: string, { records, missing }: Damage): EventBody[] {
  if (records + missing === 0) return [];
  const message = `The log of this thread is damaged: ${records} unreadable and ${missing} missing records. Everything else is intact.`;
  return [{ type: "warning", data: { threadId, message, reason: "damagedLog" } }];
}

/** Up to `limit` events, and whether there are more. */
export async function collect(source: AsyncIterable<StoredEvent>, limit: number) {
  const events: StoredEvent[] = [];
  for await (const event of source) {
    if (events.length >= limit) return { events, more: true };
    events.push(event);
  }
  return { events, more: false };
}
