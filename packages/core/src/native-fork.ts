import type { ThreadState, Turn } from "@flint/protocol";

/** How many forks of forks are looked through. */
const MOST_FORKS = 8;

/** An agent's own session in another thread, and the last turn that it knows. */
export interface ForkSource {
  readonly nativeId: string;
  readonly lastTurnId: string;
}

/** Where the session of an agent is looked for. */
export interface ForkSearch {
  readonly agent: string;
  /** The thread that was made as a fork. */
  readonly state: ThreadState;
  /** Its turns, oldest first. */
  readonly turns: readonly Turn[];
  /** The state of another thread; undefined if it is gone. */
  stateOf(threadId: string): Promise<ThreadState | undefined>;
}

/**
 * The session of the thread that this one was forked from, if its agent can go on from a copy of it: a session that knows
 * nothing but turns of this thread. Undefined if the other thread has gone on since, was forked at an earlier turn, or has
 * no such session. It keeps nothing: what it needs stands in the two threads, so it is the same after a restart.
 */
export async function forkSource(search: ForkSearch): Promise<ForkSource | undefined> {
  const { agent, turns, stateOf } = search;
  let fromId = search.state.thread.forkedFromId;
  for (let looked = 0; fromId !== undefined && looked < MOST_FORKS; looked += 1) {
    const from = await stateOf(fromId);
    // What a running turn has said so far may be in the session already.
    if (from === undefined || from.activeTurnId !== undefined) return undefined;
    const nativeId = from.nativeIds[agent];
    const lastTurnId = from.lastTurns[agent];
    if (nativeId !== undefined) {
      const isKnown = nativeId !== "" && turns.some(({ id }) => id === lastTurnId);
      return isKnown && lastTurnId !== undefined ? { nativeId, lastTurnId } : undefined;
    }
    // A fork in which its agent has not worked yet has no session either; the one before it may have.
    fromId = from.thread.forkedFromId;
  }
  return undefined;
}
