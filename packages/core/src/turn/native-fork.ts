import type { ThreadState, Turn } from "@flint/protocol";

/** How many forks of forks are looked through. */
const MOST_FORKS = 8;

/** An agent's own session, and the last turn of the thread that a copy of it knows. */
export interface ForkSource {
  readonly nativeId: string;
  /** Where the copy has to end; the whole session unless given. */
  readonly position?: string;
  readonly lastTurnId: string;
}

/** Where the session of an agent is looked for. */
export interface ForkSearch {
  readonly agent: string;
  /** A thread that was made as a fork, or in which turns were dropped. */
  readonly state: ThreadState;
  /** Its turns, oldest first. */
  readonly turns: readonly Turn[];
  /** The state of another thread; undefined if it is gone. */
  stateOf(threadId: string): Promise<ThreadState | undefined>;
}

/**
 * The session that an agent can go on from a copy of: one that knows as many turns of this thread as any does, and nothing
 * else. It keeps nothing: what it needs stands in the threads, so it is the same after a restart.
 */
export async function forkSource(search: ForkSearch): Promise<ForkSource | undefined> {
  const whole = await wholeSession(search);
  const part = partOfSession(search);
  if (whole === undefined || part === undefined) return whole ?? part;
  const placeOf = ({ lastTurnId }: ForkSource) => search.turns.findLastIndex(({ id }) => id === lastTurnId);
  return placeOf(part) > placeOf(whole) ? part : whole;
}

/**
 * The session of the thread that this one was forked from, if that knows nothing but turns of this thread. Undefined if the
 * other thread has gone on since, was forked at an earlier turn, or has no such session.
 */
async function wholeSession(search: ForkSearch): Promise<ForkSource | undefined> {
  const { agent, turns, stateOf } = search;
  // A session of its own that no longer fits was dropped for a reason; the one that it came from may be as old.
  if (search.state.nativeIds[agent] !== undefined) return undefined;
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

/** The session in which the latest turn of this agent ended, up to there: whatever was said in it later is left out. */
function partOfSession({ agent, turns }: ForkSearch): ForkSource | undefined {
  const latest = turns.findLast(({ nativeEnd }) => nativeEnd?.agent === agent);
  if (latest?.nativeEnd === undefined) return undefined;
  const { sessionId: nativeId, position } = latest.nativeEnd;
  return { nativeId, position, lastTurnId: latest.id };
}
