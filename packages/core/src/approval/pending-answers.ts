import { FlintError } from "@flint/protocol";

/** A request without an answer. */
export interface PendingAnswer<Answer> {
  readonly turnId: string;
  readonly itemId: string;
  readonly settle: (answer: Answer) => void;
  readonly cancelTimeout: () => void;
}

/** The open requests of one kind. Each can be taken once; then it counts as answered. */
export class PendingAnswers<Answer> {
  readonly #what: string;
  readonly #pending = new Map<string, PendingAnswer<Answer>>();

  /** `what` names the kind in messages. */
  constructor(what: string) {
    this.#what = what;
  }

  /** Adds a request and waits for its answer; `cancelTimeout` is called when it is taken. */
  add(
    id: string,
    request: Pick<PendingAnswer<Answer>, "turnId" | "itemId" | "cancelTimeout">,
  ): Promise<Answer> {
    return new Promise((settle) => {
      this.#pending.set(id, { ...request, settle });
    });
  }

  /** Removes an open request, to be settled by the caller. Throws `approvalNotFound` if it is not open. */
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

  /** Settles all open requests of a turn with the same answer. */
  settleTurn(turnId: string, answer: Answer): void {
    for (const [id, waiting] of this.#pending) if (waiting.turnId === turnId) this.take(id).settle(answer);
  }
}
