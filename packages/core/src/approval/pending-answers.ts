import { FlintError } from "@flint/protocol";

/** Something that was asked and has no answer yet. */
export interface Waiting<Answer> {
  readonly turnId: string;
  readonly itemId: string;
  readonly settle: (answer: Answer) => void;
  readonly cancelTimeout: () => void;
}

/** The open requests of one kind. Each is taken once; what is taken counts as answered. */
export class WaitingAnswers<Answer> {
  readonly #what: string;
  readonly #waiting = new Map<string, Waiting<Answer>>();

  /** `what` is its name in messages. */
  constructor(what: string) {
    this.#what = what;
  }

  /** Waits for the answer; `cancelTimeout` is called when it is taken. */
  add(id: string, place: Pick<Waiting<Answer>, "turnId" | "itemId" | "cancelTimeout">): Promise<Answer> {
    return new Promise((settle) => {
      this.#waiting.set(id, { ...place, settle });
    });
  }

  /** Takes an open request out, for whoever answers it. Throws `approvalNotFound` if it has its answer already. */
  take(id: string): Waiting<Answer> {
    const found = this.#waiting.get(id);
    if (found === undefined) {
      const message = `No open ${this.#what} ${id}; it may have been answered already.`;
      throw new FlintError("approvalNotFound", message, { id });
    }
    this.#waiting.delete(id);
    found.cancelTimeout();
    return found;
  }

  /** Gives the same answer to all that a turn left open. */
  settleTurn(turnId: string, answer: Answer): void {
    for (const [id, waiting] of this.#waiting) if (waiting.turnId === turnId) this.take(id).settle(answer);
  }
}
