import type { Turn } from "@flint/protocol";
import type { CodexThread } from "@flint/protocol/codex";
import { listedTurn } from "./turns.ts";

/** A turn as it is sent. */
export interface EncodedTurn {
  readonly id: string;
  readonly status: Turn["status"];
  readonly text: string;
}

/** An answer that is JSON already. */
export class EncodedAnswer {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A turn with all of its items, as it is sent. */
export function encodedTurn(turn: Turn): EncodedTurn {
  return { id: turn.id, status: turn.status, text: JSON.stringify(listedTurn(turn, "full")) };
}

/**
 * The answer with these turns in its thread. They are taken out of the list: the history of a thread may be large, and
 * from here on its text is held once. Texts are strung together and not joined, for the same reason.
 */
export function withTurns<Answer extends { readonly thread: CodexThread }>(
  { thread, ...answer }: Answer,
  turns: EncodedTurn[],
): EncodedAnswer {
  const { turns: _none, ...described } = thread;
  const others = JSON.stringify(answer).slice(1, -1);
  let text = `{${others}${others === "" ? "" : ","}"thread":${JSON.stringify(described).slice(0, -1)},"turns":[`;
  for (const [place, turn] of turns.splice(0).entries()) {
    text += place === 0 ? turn.text : `,${turn.text}`;
  }
  text += "]}}";
  return new EncodedAnswer(text);
}
