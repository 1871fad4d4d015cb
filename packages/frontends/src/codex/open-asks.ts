import { RemoteError } from "@flint/rpc";
import type { DeskClient } from "../desk.ts";
import type { Asked, Verdict } from "./asked.ts";

interface OpenAsk {
  readonly id: number;
  readonly threadId: string;
  readonly settled: AbortController;
}

/** What one client is asked; whoever answers first, here or elsewhere, has answered. */
export class OpenAsks {
  readonly #client: DeskClient;
  readonly #open = new Map<string, OpenAsk>();

  constructor(client: DeskClient) {
    this.#client = client;
  }

  /** Asks once for each open question. */
  ask(id: number, asked: Asked): void {
    if (this.#open.has(asked.key)) return;
    const settled = new AbortController();
    this.#open.set(asked.key, { id, threadId: asked.threadId, settled });
    void this.#wait(id, asked, settled.signal);
  }

  /** Nobody waits for an answer any more. The number under which it was asked; undefined if it was not. */
  settle(key: string): number | undefined {
    const open = this.#open.get(key);
    this.#open.delete(key);
    open?.settled.abort(new Error("answered elsewhere"));
    return open?.id;
  }

  /** The client lets go of a thread: it may be asked again when it comes back. */
  forget(threadId: string): void {
    for (const [key, open] of this.#open) if (open.threadId === threadId) this.settle(key);
  }

  /** The client is gone. */
  forgetAll(): void {
    for (const key of [...this.#open.keys()]) this.settle(key);
  }

  async #wait(id: number, asked: Asked, signal: AbortSignal): Promise<void> {
    try {
      const answer = await this.#client.ask(asked.method, asked.params, { id, signal });
      await this.#respond(asked.answered(answer));
    } catch (error) {
      await this.#notAnswered(asked, error);
    }
  }

  /** A client that cannot answer leaves it to the others; if there are none, nobody says yes. */
  async #notAnswered(asked: Asked, error: unknown): Promise<void> {
    const isWaiting = this.#open.has(asked.key);
    if (!isWaiting || !(error instanceof RemoteError) || !this.#client.alone(asked.threadId)) return;
    await this.#respond(asked.refused(`The client cannot answer: ${error.message}`));
  }

  async #respond(verdict: Verdict): Promise<void> {
    try {
      switch (verdict.method) {
        case "approval/respond":
          return await this.#client.call(verdict.method, verdict.params, () => undefined);
        case "question/respond":
          return await this.#client.call(verdict.method, verdict.params, () => undefined);
        case "tool/respond":
          return await this.#client.call(verdict.method, verdict.params, () => undefined);
      }
    } catch {
      // It was answered or ended in the meantime; then this answer is not needed.
    }
  }
}
