import {
  type EventBody,
  FlintError,
  mintId,
  type StoredEvent,
  subAgentCallOf,
  type ThreadItem,
  type Turn,
} from "@flint/protocol";
import type { LiveThread } from "../thread/live-thread.ts";
import { allTurns } from "../thread/registry.ts";
import { usageOf } from "../thread/view.ts";
import type { ThreadContext, ThreadHandlers } from "./handler.ts";
import { revertTurns, undoRevert } from "./revert.ts";
import { announceNewThread, createThread, startedEvent } from "./thread.ts";

/** Going back in a conversation, and continuing it in another thread. */
export const branchHandlers: Pick<
  ThreadHandlers,
  "thread/fork" | "thread/rollback" | "thread/revert" | "thread/revert/undo"
> = {
  async "thread/fork"(params, { thread, services, client }) {
    const state = thread.log.current();
    const settings = await services.settings.override(state.settings, params);
    const store = services.registry.storeOf(thread.id);
    const turns = await completedTurns(thread, store, params.lastTurnId);
    const copied = new Set(turns.map((turn) => turn.id));
    const { ephemeral = false } = params;
    const { preview } = state.thread;
    const description = { settings, ephemeral, forkedFromId: thread.id, preview };
    const { thread: fork } = await createThread(services, description, (created) =>
      copyTurns(store.read(thread.id), copied, created),
    );
    const { thread: described } = fork.log.state;
    return {
      result: { thread: described, modelProvider: described.modelProvider, ...usageOf(fork.log.state) },
      after: () => {
        const start = { afterSeq: fork.log.state.seq, first: [startedEvent(fork.log.state)] };
        client.subscribe(fork, start, services.options.clock.now());
        announceNewThread(services, fork.log.state);
      },
    };
  },

  async "thread/rollback"({ numTurns, files, preview }, context) {
    const turns = await turnsOf(context);
    if (numTurns > turns.length) {
      const message = `The thread has ${turns.length} turns; ${numTurns} cannot be rolled back.`;
      throw new FlintError("invalidParams", message, { field: "numTurns", turns: turns.length });
    }
    return revertTurns(context, turns.slice(turns.length - numTurns), { files, preview });
  },

  async "thread/revert"({ beforeTurnId, files, preview }, context) {
    const turns = await turnsOf(context);
    return revertTurns(context, turns.slice(indexOfTurn(turns, beforeTurnId)), { files, preview });
  },

  async "thread/revert/undo"({ revertId }, context) {
    return undoRevert(context, revertId);
  },
};

async function turnsOf({ thread, services }: ThreadContext): Promise<readonly Turn[]> {
  thread.turns.rejectIfActive();
  return allTurns(services.registry.storeOf(thread.id), thread.id);
}

function indexOfTurn(turns: readonly Turn[], turnId: string): number {
  const index = turns.findIndex((turn) => turn.id === turnId);
  if (index !== -1) return index;
  throw new FlintError("turnNotFound", `The thread has no turn ${turnId}.`, { turnId });
}

async function completedTurns(
  thread: LiveThread,
  store: Parameters<typeof allTurns>[0],
  lastTurnId: string | undefined,
): Promise<readonly Turn[]> {
  const turns = (await allTurns(store, thread.id)).filter((turn) => turn.status !== "inProgress");
  return lastTurnId === undefined ? turns : turns.slice(0, indexOfTurn(turns, lastTurnId) + 1);
}

/** Copies the records of whole turns. Deltas are left out, because the items contain their text. */
async function copyTurns(
  source: AsyncIterable<StoredEvent>,
  copied: ReadonlySet<string>,
  fork: LiveThread,
): Promise<void> {
  let batch: EventBody[] = [];
  const ids = new Map<string, string>();
  for await (const event of source) {
    const copy = copyFor(event, copied, fork.id, ids);
    if (copy !== undefined) batch.push(copy);
    if (batch.length < 500) continue;
    await fork.log.commit(batch);
    batch = [];
  }
  if (batch.length > 0) await fork.log.commit(batch);
}

/** The work of a sub-agent is copied too, and shown by a thread of the fork: `ids` has its id, by that of the first. */
function withNewChild(item: ThreadItem, ids: Map<string, string>): ThreadItem {
  const call = subAgentCallOf(item);
  if (call === undefined) return item;
  const threadId = ids.get(call.subAgent.threadId) ?? mintId();
  ids.set(call.subAgent.threadId, threadId);
  return { ...call, subAgent: { ...call.subAgent, threadId } };
}

function copyFor(
  event: StoredEvent,
  copied: ReadonlySet<string>,
  threadId: string,
  ids: Map<string, string>,
): EventBody | undefined {
  switch (event.type) {
    case "turn/started":
    case "turn/completed": {
      const { type, data } = event;
      return copied.has(data.turn.id) ? { type, data: { ...data, threadId } } : undefined;
    }
    case "item/started":
    case "item/completed": {
      const { type, data } = event;
      if (!copied.has(data.turnId)) return undefined;
      return { type, data: { ...data, threadId, item: withNewChild(data.item, ids) } };
    }
    case "thread/tokenUsage/updated": {
      const { type, data } = event;
      return copied.has(data.turnId) ? { type, data: { ...data, threadId } } : undefined;
    }
    default:
      return undefined;
  }
}
