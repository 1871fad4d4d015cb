import { FlintError } from "@flint/protocol";

/** The origin of an input, as far as another request can name it. */
interface InputSource {
  readonly clientId?: string | undefined;
  readonly queuedInputId?: string | undefined;
}

/** Inputs that were sent to the agent of the running turn and that it has not answered. */
export class PendingInputs {
  readonly #byClientId = new Map<string, Promise<unknown>>();
  readonly #queued = new Set<string>();

  /** Notes an input until the agent has answered. */
  add({ clientId, queuedInputId }: InputSource, answer: Promise<unknown>): void {
    if (clientId !== undefined) this.#byClientId.set(clientId, answer);
    if (queuedInputId !== undefined) this.#queued.add(queuedInputId);
    const remove = () => {
      if (clientId !== undefined) this.#byClientId.delete(clientId);
      if (queuedInputId !== undefined) this.#queued.delete(queuedInputId);
    };
    // The request that sent it reports a failure.
    void answer.then(remove, remove);
  }

  /** The answer to the input with this id of its client; undefined if none is awaited. */
  answerTo(clientId: string): Promise<unknown> | undefined {
    return this.#byClientId.get(clientId);
  }

  /** Reports whether the agent has a queued input already, so that nothing else may be done with it. */
  has(queuedInputId: string): boolean {
    return this.#queued.has(queuedInputId);
  }

  /** Throws for a queued input that the agent has already. */
  rejectIfSent(queuedInputId: string): void {
    if (!this.has(queuedInputId)) return;
    const message =
      "This input was sent to the agent, which has not answered yet. Wait for it, or interrupt the turn.";
    throw new FlintError("invalidParams", message, { queuedInputId });
  }
}
