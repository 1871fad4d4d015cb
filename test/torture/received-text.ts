import { DELTA_FIELDS } from "@flint/protocol";
import type { WireMessage } from "@flint/testkit";

type Delta = { readonly itemId: string; readonly delta: string; readonly offset: number };

/** Puts the pieces of streamed text together as a client sees them: text that is seen again does no harm, a hole does. */
export class ReceivedText {
  readonly #texts = new Map<string, string[]>();
  readonly #lengths = new Map<string, number>();
  /** Number of pieces that started behind the end of the text so far. */
  holes = 0;

  /** All the text in some messages. */
  static of(messages: readonly WireMessage[]): ReceivedText {
    const received = new ReceivedText();
    for (const message of messages) received.take(message);
    return received;
  }

  /** Takes a message; only pieces of text count. */
  take({ method, params }: WireMessage): void {
    if (typeof method !== "string" || !DELTA_FIELDS.has(method)) return;
    // Every line is checked against the vocabulary at the end of the case.
    const { itemId, delta, offset } = params as Delta;
    const known = this.lengthOf(itemId);
    if (offset > known) this.holes += 1;
    const fresh = delta.slice(Math.max(0, known - offset));
    const pieces = this.#texts.get(itemId) ?? [];
    pieces.push(fresh);
    this.#texts.set(itemId, pieces);
    this.#lengths.set(itemId, known + fresh.length);
  }

  /** Returns the received length of an item. */
  lengthOf(itemId: string): number {
    return this.#lengths.get(itemId) ?? 0;
  }

  /** Returns the received text of an item. */
  textOf(itemId: string): string {
    return (this.#texts.get(itemId) ?? []).join("");
  }
}
