import type { Thread } from "@flint/protocol";
import { clientIdMismatch, MAX_CLIENT_IDS } from "../turn/client-ids.ts";

interface Started {
  readonly digest: string;
  readonly threadId: Promise<string>;
}

/** A thread for a request, and whether it was made for it now. */
export interface StartedThread {
  readonly threadId: string;
  readonly isNew: boolean;
}

/** Returns a digest that distinguishes requests without revealing their content. */
export async function digestOf(request: unknown): Promise<string> {
  // Loaded on first use, because few clients send ids.
  const { createHash } = await import("node:crypto");
  return createHash("sha256").update(JSON.stringify(request)).digest("hex").slice(0, 32);
}

/** The threads that clients started with an id of their own, so that a repeated request starts no second one. */
export class StartedThreads {
  readonly #started = new Map<string, Started>();

  /**
   * The thread that was started with the same id and request, or is being started; otherwise what `find` finds among
   * the stored ones, or what `start` makes. Throws `invalidParams` for another request. A start that fails is forgotten.
   */
  async once(
    { clientId, digest }: NonNullable<Thread["startedAs"]>,
    find: () => Promise<Thread | undefined>,
    start: () => Promise<string>,
  ): Promise<StartedThread> {
    const earlier = this.#started.get(clientId);
    if (earlier !== undefined) {
      if (earlier.digest !== digest) throw clientIdMismatch(clientId, "another request");
      return { threadId: await earlier.threadId, isNew: false };
    }
    let isNew = false;
    const threadId = find().then(async (found) => {
      if (found === undefined) {
        isNew = true;
        return start();
      }
      if (found.startedAs?.digest !== digest) throw clientIdMismatch(clientId, "another request");
      return found.id;
    });
    this.#started.set(clientId, { digest, threadId });
    threadId.catch(() => this.forget(clientId));
    const [oldest] = this.#started.keys();
    if (this.#started.size > MAX_CLIENT_IDS && oldest !== undefined) this.#started.delete(oldest);
    return { threadId: await threadId, isNew };
  }

  /** Forgets an id, for example because its thread was deleted. */
  forget(clientId: string): void {
    this.#started.delete(clientId);
  }
}
