import type { ThreadState } from "@flint/protocol";
import { type Ask, asksOfAll, type Waiting } from "@flint/view";
import type { SessionContext } from "../session/context.ts";

/** More threads are not looked at. */
const LIMIT = 200;

/**
 * The asks that wait for the user in all threads. It subscribes to those that wait, to receive further
 * approvals and answers there, and unsubscribes once they do not wait any more, or it is closed.
 */
export class WaitingThreads {
  readonly #session: SessionContext;
  readonly #subscribed = new Set<string>();
  #asks: readonly Ask[] | undefined;
  #isReading = false;
  #isStale = false;
  #isClosed = false;

  constructor(session: SessionContext) {
    this.#session = session;
  }

  /** The open asks, oldest first; undefined before they were read. */
  get asks(): readonly Ask[] | undefined {
    return this.#asks;
  }

  /** Reads everything again; `then` is called whenever it was read. */
  refresh(then: () => void): void {
    this.#isStale = true;
    if (this.#isReading) return;
    this.#isReading = true;
    this.#session.run(async () => {
      try {
        while (this.#isStale && !this.#isClosed) {
          this.#isStale = false;
          this.#asks = asksOfAll(await this.#read());
          then();
        }
      } finally {
        this.#isReading = false;
        if (this.#isClosed) this.#unsubscribe([...this.#subscribed]);
      }
    });
  }

  /** Unsubscribes from everything but `keep` and the thread of the session. */
  close(keep?: string): void {
    this.#isClosed = true;
    if (keep !== undefined) this.#subscribed.delete(keep);
    this.#unsubscribe([...this.#subscribed]);
  }

  async #read(): Promise<Waiting[]> {
    const { client, state } = this.#session;
    const { data } = await client.listThreads({ limit: LIMIT, sortKey: "updatedAt" });
    const waiting = data.filter(({ status }) => (status.activeFlags ?? []).length > 0).map(({ id }) => id);
    const states = await Promise.all(waiting.map((id) => this.#asksIn(id, state)));
    this.#unsubscribe([...this.#subscribed].filter((id) => !waiting.includes(id)));
    return states.flatMap((each) => each ?? []);
  }

  async #asksIn(threadId: string, own: ThreadState | undefined): Promise<Waiting | undefined> {
    // The session is subscribed to its own thread.
    if (threadId === own?.thread.id) return own;
    this.#subscribed.add(threadId);
    // Expected: a thread that was deleted since it was listed. Nothing waits in it.
    return this.#session.client.call("thread/attach", { threadId, turns: 0 }).catch(() => undefined);
  }

  #unsubscribe(threadIds: readonly string[]): void {
    const own = this.#session.state?.thread.id;
    for (const threadId of threadIds) {
      this.#subscribed.delete(threadId);
      // Expected: the connection is gone, and the subscription with it.
      if (threadId !== own)
        void Promise.resolve()
          .then(() => this.#session.client.call("thread/unsubscribe", { threadId }))
          .catch(() => undefined);
    }
  }
}
