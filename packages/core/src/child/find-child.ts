import { type ChildThread, FlintError, LIMITS, type Thread, type Turn } from "@flint/protocol";
import type { Store } from "../ports/index.ts";
import type { Services } from "../services.ts";

/** Reports whether an error says that there is no such thread. */
export function isMissingThread(error: unknown): boolean {
  return error instanceof FlintError && error.kind === "threadNotFound";
}

/** A child thread, and the thread whose log it is a view of. */
export interface FoundChild {
  readonly child: ChildThread;
  readonly owner: Thread;
}

/** The child thread with this id; undefined if no thread has one. Only asked about ids that are no thread's own. */
export async function findChild(services: Services, threadId: string): Promise<FoundChild | undefined> {
  const { registry, options } = services;
  for (const id of registry.loadedIds()) {
    const found = childOf(registry.loaded(id)?.log.state.thread, threadId);
    if (found !== undefined) return found;
  }
  for (const archived of [false, true]) {
    for await (const thread of listedThreads(options.store, archived)) {
      const found = childOf({ ...thread, status: { type: "notLoaded" } }, threadId);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function childOf(owner: Thread | undefined, threadId: string): FoundChild | undefined {
  const child = owner?.childThreads?.find(({ id, reverted }) => id === threadId && reverted !== true);
  return owner === undefined || child === undefined ? undefined : { child, owner };
}

async function* listedThreads(store: Store, archived: boolean): AsyncIterable<Thread> {
  let cursor: string | undefined;
  do {
    const page = await store.list({
      ...{ cursor, limit: LIMITS.threads, archived, searchTerm: undefined, cwd: undefined },
      ...{ sortKey: "updatedAt", sortDirection: "desc" },
    });
    yield* page.data;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

/** The turn of the log that the work of a sub-agent is in. */
export async function turnOfChild(store: Store, { child, owner }: FoundChild): Promise<Turn> {
  let cursor: string | undefined;
  do {
    const page = await store.turns(owner.id, { limit: LIMITS.page, cursor });
    const turn = page.data.find(({ id }) => id === child.turnId);
    if (turn !== undefined) return turn;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  throw new FlintError("turnNotFound", `The turn of thread ${child.id} cannot be read from its log.`, {
    turnId: child.turnId,
  });
}
