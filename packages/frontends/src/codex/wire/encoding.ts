import type { Turn } from "@flint/protocol";
import type { CodexThread } from "@flint/protocol/codex";
import { listedTurn } from "../events/turns.ts";

/** A notification as a line of this wire: without a header, and with the time it was sent. */
export function encodeNotification(method: string, params: object, emittedAtMs: number): string {
  return JSON.stringify({ method, params, emittedAtMs });
}

/** A turn as it is sent. */
export interface EncodedTurn {
  readonly id: string;
  readonly status: Turn["status"];
  readonly json: string;
}

/** Encodes a turn with all of its items. */
export function encodeTurn(turn: Turn): EncodedTurn {
  return { id: turn.id, status: turn.status, json: JSON.stringify(listedTurn(turn, "full")) };
}

/**
 * The JSON of an answer with these turns in its thread. They are taken out of the list: the history of a thread may be
 * large, and from here on its text is held once. Strings are appended and not joined, for the same reason.
 */
export function encodeWithTurns<Answer extends { readonly thread: CodexThread }>(
  { thread, ...answer }: Answer,
  turns: EncodedTurn[],
): string {
  const { turns: _none, ...described } = thread;
  const others = JSON.stringify(answer).slice(1, -1);
  let json = `{${others}${others === "" ? "" : ","}"thread":${JSON.stringify(described).slice(0, -1)},"turns":[`;
  for (const [index, turn] of turns.splice(0).entries()) json += index === 0 ? turn.json : `,${turn.json}`;
  return `${json}]}}`;
}
