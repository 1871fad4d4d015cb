import { type EventBody, FlintError, type Thread, type Turn } from "@flint/protocol";
import { type Driver, type NativeHistory, nativeTurnIdOf, type Store } from "../ports/index.ts";
import type { Services } from "../services.ts";
import { wellFormed } from "../text/characters.ts";
import type { LiveThread } from "../thread/live-thread.ts";
import { allTurns } from "../thread/registry.ts";
import { finishedItem } from "../turn/reporter.ts";
import { TurnCaps } from "../turn/turn-caps.ts";
import type { GlobalHandlers } from "./handler.ts";
import { sessionEvent } from "./revert.ts";
import { announceNewThread, createThread } from "./thread.ts";

const DEFAULT_PAGE = 25;

/** The number of events that are committed at once. */
const BATCH = 500;

/** Listing and importing the sessions that agents wrote without Flint. */
export const importHandlers: Pick<GlobalHandlers, "thread/import" | "thread/import/list"> = {
  async "thread/import/list"({ agent, cwd, limit = DEFAULT_PAGE }, { services }) {
    const drivers = agent === undefined ? services.catalogue.drivers : [driverOf(services, agent)];
    const known = await sessionThreads(services.options.store);
    const lists = await Promise.all(
      drivers.map(async (driver) => {
        const { id } = driver;
        const sessions = await driver.nativeSessions?.();
        const listed = (await sessions?.list(cwd === undefined ? limit : 1_000)) ?? [];
        return listed.map((session) => ({ ...session, agent: id, ...threadOf(known, id, session.id) }));
      }),
    );
    const data = lists.flat().filter((session) => cwd === undefined || session.cwd === cwd);
    return { result: { data: data.sort((a, b) => b.updatedAt - a.updatedAt).slice(0, limit) } };
  },

  async "thread/import"({ agent, sessionId }, { services }) {
    // Two imports of one session at the same time would both find no thread.
    return services.imports.run(async () => {
      const sessions = await driverOf(services, agent).nativeSessions?.();
      if (sessions === undefined) {
        const message = `Only sessions of Claude and Codex can be imported, not of ${agent}.`;
        throw new FlintError("invalidParams", message, { field: "agent" });
      }
      const history = await sessions.read(sessionId);
      const threadId = (await sessionThreads(services.options.store)).get(keyOf(agent, history.session.id));
      return threadId === undefined
        ? createFrom(services, agent, history)
        : update(services, threadId, agent, history);
    });
  },
};

function driverOf({ catalogue }: Services, agent: string): Driver {
  const driver = catalogue.driver(agent);
  if (driver !== undefined) return driver;
  throw new FlintError("invalidParams", `There is no agent ${JSON.stringify(agent)}.`, { field: "agent" });
}

function keyOf(agent: string, sessionId: string): string {
  return `${agent} ${sessionId}`;
}

function threadOf(known: ReadonlyMap<string, string>, agent: string, sessionId: string) {
  const threadId = known.get(keyOf(agent, sessionId));
  return threadId === undefined ? {} : { threadId };
}

/** The threads that belong to sessions of agents. */
async function sessionThreads(store: Store): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const archived of [false, true]) {
    let cursor: string | undefined;
    do {
      const order = { sortKey: "updatedAt", sortDirection: "desc" } as const;
      const page = await store.list({
        ...{ cursor, limit: 500, archived, searchTerm: undefined, cwd: undefined },
        ...order,
      });
      for (const { id, nativeSession } of page.data) {
        if (nativeSession !== undefined) found.set(keyOf(nativeSession.agent, nativeSession.id), id);
      }
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }
  return found;
}

async function createFrom(services: Services, agent: string, history: NativeHistory) {
  const { session, turns, notes } = history;
  if (turns.length === 0) {
    const why = notes.length === 0 ? "It has no turns." : notes.join(" ");
    throw new FlintError("invalidParams", `Session ${session.id} cannot be imported. ${why}`, {
      field: "sessionId",
    });
  }
  const { settings } = await services.settings.forNewThread({
    cwd: session.cwd,
    model: history.model ?? agent,
  });
  const description = { settings, ephemeral: false, preview: session.preview };
  const { thread } = await createThread(services, description, async (created) => {
    await addTurns(created, turns);
    await created.log.commit([sessionEvent(created.id, agent, session.id)]);
  });
  announceNewThread(services, thread.log.state);
  return outcome(thread.log.state.thread, "imported", turns.length, notes);
}

/** Adds what the session has and the thread has not; a turn that was cut off when it was read is replaced. */
async function update(services: Services, threadId: string, agent: string, history: NativeHistory) {
  return services.registry.runInQueue(threadId, async ({ thread }) => {
    const stored = await allTurns(services.registry.storeOf(threadId), threadId);
    if (stored.some((turn) => nativeTurnIdOf(turn) === undefined)) {
      const note = `Session ${history.session.id} belongs to thread ${threadId}, which was continued in Flint. Nothing was added.`;
      return outcome(thread.log.state.thread, "unchanged", 0, [...history.notes, note]);
    }
    const last = stored.at(-1);
    const first = last === undefined ? 0 : history.turns.findIndex((turn) => isSame(turn, last));
    // The session was rewound, or is another one under the same id.
    const isForeign = last !== undefined && first === -1;
    if (isForeign) {
      const note = `Session ${history.session.id} no longer contains the turns of thread ${threadId}. Nothing was added; delete the thread to import it again.`;
      return outcome(thread.log.state.thread, "unchanged", 0, [...history.notes, note]);
    }
    const isCut = last !== undefined && hasMore(history.turns[first], last);
    const added = history.turns.slice(isCut || last === undefined ? first : first + 1);
    if (isCut) {
      const data = { threadId, turnIds: [last.id], files: "keep" } as const;
      await thread.log.commit([{ type: "thread/reverted", data: { ...data, turnIds: [last.id] } }]);
    }
    await addTurns(thread, added);
    if (isCut) await thread.log.commit([sessionEvent(threadId, agent, history.session.id)]);
    const status = added.length === 0 ? "unchanged" : "updated";
    return outcome(thread.log.state.thread, status, added.length, history.notes);
  });
}

function isSame(turn: Turn, stored: Turn): boolean {
  return nativeTurnIdOf(turn) === nativeTurnIdOf(stored);
}

function hasMore(turn: Turn | undefined, stored: Turn): boolean {
  return turn !== undefined && (turn.items.length > stored.items.length || turn.status !== stored.status);
}

function outcome(
  thread: Thread,
  status: "imported" | "updated" | "unchanged",
  turns: number,
  notes: readonly string[],
) {
  return { result: { thread, status, turns, notes: [...notes] } };
}

async function addTurns({ id: threadId, log }: LiveThread, turns: readonly Turn[]): Promise<void> {
  let batch: EventBody[] = [];
  for (const turn of turns.map(wellFormed)) {
    const { items, ...bare } = turn;
    const caps = new TurnCaps();
    batch.push({
      type: "turn/started",
      data: { threadId, turn: { ...bare, status: "inProgress", items: [] } },
    });
    for (const item of items) {
      const data = { threadId, turnId: turn.id, item: finishedItem(item, caps) };
      batch.push({ type: "item/started", data }, { type: "item/completed", data });
    }
    const ended: Turn = { ...bare, items: [], itemsView: "notLoaded" };
    batch.push({ type: "turn/completed", data: { threadId, turn: ended } });
    if (batch.length < BATCH) continue;
    await log.commit(batch);
    batch = [];
  }
  if (batch.length > 0) await log.commit(batch);
}
