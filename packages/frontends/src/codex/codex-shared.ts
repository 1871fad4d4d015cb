import type { ThreadEvent } from "@flint/protocol";
import { ApprovalWords } from "./approval-words.ts";
import type { Asked } from "./asked.ts";
import type { CodexHost } from "./host/host.ts";
import { outbound, type Settle, type Tell } from "./outbound.ts";
import { RefusedItems } from "./refused-items.ts";
import { encodeTold } from "./wire.ts";

/** A message that is ready to be sent to any client; a question has its number, which is the same for all of them. */
export type Encoded =
  | { readonly kind: "line"; readonly line: string; readonly tell: Tell }
  | { readonly kind: "ask"; readonly id: number; readonly ask: Asked }
  | Settle;

/** Numbers of questions that are kept; one that is still open after so many others gets a new one. */
const MOST_NUMBERS = 10_000;

/** What all clients of the Codex door share: lines that are encoded once, and the numbers of questions. */
export class CodexShared {
  readonly host: CodexHost;
  readonly words = new ApprovalWords();
  readonly #refusals = new RefusedItems();
  readonly #numbers = new Map<string, number>();
  #nextNumber = 0;
  #event: ThreadEvent | undefined;
  #encoded: readonly Encoded[] = [];

  constructor(host: CodexHost) {
    this.host = host;
  }

  /** What an event becomes. All clients of the door are told one after another, so remembering one event is enough. */
  encode(event: ThreadEvent): readonly Encoded[] {
    if (this.#event === event) return this.#encoded;
    const told = this.#refusals.shown(event);
    this.#encoded = outbound(told, this.words).map((message) => this.#encodeOne(message, event.at));
    this.#event = event;
    return this.#encoded;
  }

  #encodeOne(message: Tell | Asked | Settle, at: number): Encoded {
    switch (message.kind) {
      case "tell":
        return { kind: "line", line: encodeTold(message.method, message.params, at), tell: message };
      case "ask":
        return { kind: "ask", id: this.#numberOf(message.key), ask: message };
      case "settle":
        this.#numbers.delete(message.key);
        return message;
    }
  }

  /** Questions are counted from 0 on, whoever is asked. */
  #numberOf(key: string): number {
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#nextNumber;
    this.#nextNumber += 1;
    this.#numbers.set(key, number);
    const [oldest] = this.#numbers.keys();
    if (this.#numbers.size > MOST_NUMBERS && oldest !== undefined) this.#numbers.delete(oldest);
    return number;
  }
}
