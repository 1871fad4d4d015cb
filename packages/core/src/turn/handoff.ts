import { type Item, mintId, type ThreadState, type Turn } from "@flint/protocol";
import { itemText } from "../text/item-text.ts";

/** The longest summary, and the longest part of one text in it. */
const LIMIT = 24_000;
const TEXT_LIMIT = 2_000;

/**
 * Summarizes turns as text for an agent that did not take part in them. Bounded: the oldest turns are left out first,
 * which it states. Empty if there are none.
 */
export function handoffSummary(turns: readonly Turn[]): string {
  const included: string[] = [];
  let room = LIMIT;
  for (const turn of turns.toReversed()) {
    const text = turnText(turn);
    room -= text.length;
    if (room < 0) break;
    included.unshift(text);
  }
  if (included.length === 0) return "";
  const left = turns.length - included.length;
  const omitted = left === 0 ? "" : `(${left} earlier turns are left out.)\n\n`;
  return `${omitted}${included.join("\n\n")}`;
}

function turnText(turn: Turn): string {
  // What a client added is meant to be read whole; it is bounded when it is added.
  const limit = turn.kind === "injected" ? LIMIT : TEXT_LIMIT;
  const lines = turn.items.flatMap((item) => itemText(item, limit));
  const ending = turn.status === "completed" ? [] : [`(The turn was ${turn.status}.)`];
  return [...lines, ...ending].join("\n");
}

/** Maximum number of ancestors of a fork that are searched. */
const MAX_ANCESTORS = 8;

/** An agent's own session, and the last turn of the thread that a copy of it contains. */
export interface ForkSource {
  readonly nativeId: string;
  /** The position at which the copy has to end; the whole session if absent. */
  readonly position?: string;
  readonly lastTurnId: string;
}

/** The places to search for an agent's session. */
export interface ForkSearch {
  readonly agent: string;
  /** A thread that was made as a fork, or in which turns were dropped. */
  readonly state: ThreadState;
  /** Its turns, oldest first. */
  readonly turns: readonly Turn[];
  /** The state of another thread; undefined if it was deleted. */
  stateOf(threadId: string): Promise<ThreadState | undefined>;
}

/**
 * The session to continue from a copy of: the one with the most turns of this thread and nothing else. Computed from
 * the threads alone, so it is the same after a restart.
 */
export async function forkSource(search: ForkSearch): Promise<ForkSource | undefined> {
  const whole = await wholeSession(search);
  const part = partOfSession(search);
  if (whole === undefined || part === undefined) return whole ?? part;
  const placeOf = ({ lastTurnId }: ForkSource) => search.turns.findLastIndex(({ id }) => id === lastTurnId);
  return placeOf(part) > placeOf(whole) ? part : whole;
}

/**
 * The session of the thread that this one was forked from, if it contains only turns of this thread. Undefined if the
 * other thread has continued since, was forked at an earlier turn, or has no such session.
 */
async function wholeSession(search: ForkSearch): Promise<ForkSource | undefined> {
  const { agent, turns, stateOf } = search;
  // The thread's own session was dropped because it no longer matched; the one it came from may be just as old.
  if (search.state.nativeIds[agent] !== undefined) return undefined;
  let fromId = search.state.thread.forkedFromId;
  for (let depth = 0; fromId !== undefined && depth < MAX_ANCESTORS; depth += 1) {
    const from = await stateOf(fromId);
    // The session may already contain part of the running turn.
    if (from === undefined || from.activeTurnId !== undefined) return undefined;
    const nativeId = from.nativeIds[agent];
    const lastTurnId = from.lastTurns[agent];
    if (nativeId !== undefined) {
      const isKnown = nativeId !== "" && turns.some(({ id }) => id === lastTurnId);
      return isKnown && lastTurnId !== undefined ? { nativeId, lastTurnId } : undefined;
    }
    // A fork in which the agent has not worked yet has no session, but its parent may have one.
    fromId = from.thread.forkedFromId;
  }
  return undefined;
}

/** The session in which the agent's latest turn ended, up to that position; what came later is left out. */
function partOfSession({ agent, turns }: ForkSearch): ForkSource | undefined {
  const latest = turns.findLast(({ nativeEnd }) => nativeEnd?.agent === agent);
  if (latest?.nativeEnd === undefined) return undefined;
  const { sessionId: nativeId, position } = latest.nativeEnd;
  return { nativeId, position, lastTurnId: latest.id };
}

/** The item that marks where another agent takes over. */
export function handoffItem(
  fromAgent: string,
  toAgent: string,
  missed: readonly Turn[],
): Item<"agentHandoff"> {
  return { type: "agentHandoff", id: mintId(), fromAgent, toAgent, missedTurns: missed.length };
}
