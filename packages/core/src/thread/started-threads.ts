import { clientIdMismatch, MAX_CLIENT_IDS } from "../turn/client-ids.ts";

interface Started {
  readonly request: string;
  readonly threadId: Promise<string>;
}

/** The threads that clients started with an id of their own, so that a repeated request starts no second one. */
export class StartedThreads {
  readonly #started = new Map<string, Started>();

  /**
   * The id of the thread that was started with the same id and request, or is being started, and whether `start` made it
   * now. Throws `invalidParams` for another request. A start that fails is forgotten.
   */
  async once(
    clientId: string,
    request: unknown,
    start: () => Promise<string>,
  ): Promise<{ readonly threadId: string; readonly isNew: boolean }> {
    const text = JSON.stringify(request);
    const earlier = this.#started.get(clientId);
    if (earlier !== undefined) {
      if (earlier.request !== text) throw clientIdMismatch(clientId, "another request");
      return { threadId: await earlier.threadId, isNew: false };
    }
    const threadId = start();
    this.#started.set(clientId, { request: text, threadId });
    threadId.catch(() => this.forget(clientId));
    const [oldest] = this.#started.keys();
    if (this.#started.size > MAX_CLIENT_IDS && oldest !== undefined) this.#started.delete(oldest);
    return { threadId: await threadId, isNew: true };
  }

  /** Forgets an id, for example because its thread was deleted. */
  forget(clientId: string): void {
    this.#started.delete(clientId);
  }
}
