import { FlintError } from "@flint/protocol";

/** Something that was asked and has no answer yet. */
export interface PendingAnswer<Answer> {
  readonly turnId: string;
  readonly itemId: string;
  readonly settle: (answer: Answer) => void;
  readonly cancelTimeout: () => void;
}

/** The open requests of one kind. Each is taken once; what is taken counts as answered. */
export class PendingAnswers<Answer> {
  readonly #what: string;
  readonly #pending = new Map<string, PendingAnswer<Answer>>();

  /** `what` is its name in messages. */
  constructor(what: string) {
    this.#what = what;
  }

  /** Waits for the answer; `cancelTimeout` is called when it is taken. */
  add(
    id: string,
    place: Pick<PendingAnswer<Answer>, "turnId" | "itemId" | "cancelTimeout">,
  ): Promise<Answer> {
    return new Promise((settle) => {
      this.#pending.set(id, { ...place, settle });
    });
  }

  /** Takes an open request out, for whoever answers it. Throws `approvalNotFound` if it has its answer already. */
  take(id: string): PendingAnswer<Answer> {
    const found = this.#pending.get(id);
    if (found === undefined) {
      const message = `No open ${this.#what} ${id}; it may have been answered already.`;
      throw new FlintError("approvalNotFound", message, { id });
    }
    this.#pending.delete(id);
    found.cancelTimeout();
    return found;
  }

  /** Gives the same answer to all that a turn left open. */
  settleTurn(turnId: string, answer: Answer): void {
    for (const [id, waiting] of this.#pending) if (waiting.turnId === turnId) this.take(id).settle(answer);
  }
}
