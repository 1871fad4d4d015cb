import type { RpcError } from "./codec.ts";
import type { Id } from "./id.ts";
import { PeerClosedError, PeerTimeoutError, RemoteError } from "./peer-errors.ts";

/** How long a request may wait, who may give it up early, and its number where the owner counts them himself. */
export type RequestOptions = { signal?: AbortSignal; timeoutMs?: number; id?: number };

type Waiting = {
  method: string;
  resolve(result: unknown): void;
  reject(reason: unknown): void;
  release(): void;
};

// A longer timer fires at once in Node.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The requests of one direction that wait for an answer. Each one settles exactly once. */
export class PendingRequests {
  readonly #waiting = new Map<Id, Waiting>();

  /** Waits for the answer to `id`. */
  add(id: number, method: string, options: RequestOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const release = this.#watch(id, method, options);
      this.#waiting.set(id, { method, resolve, reject, release });
    });
  }

  /** False when nobody waits for this id (any more). */
  resolve(id: Id, result: unknown): boolean {
    const waiting = this.#remove(id);
    waiting?.resolve(result);
    return waiting !== undefined;
  }

  /** False when nobody waits for this id (any more). */
  fail(id: Id, error: RpcError): boolean {
    const waiting = this.#remove(id);
    waiting?.reject(new RemoteError(waiting.method, error));
    return waiting !== undefined;
  }

  /** The connection is over: rejects all of them. */
  rejectAll(reason: Error | undefined): void {
    for (const id of [...this.#waiting.keys()]) {
      const waiting = this.#remove(id);
      waiting?.reject(new PeerClosedError(waiting.method, reason));
    }
  }

  #watch(id: number, method: string, options: RequestOptions): () => void {
    const { signal, timeoutMs } = options;
    const giveUp = (reason: unknown) => this.#remove(id)?.reject(reason);
    const onAbort = () => giveUp(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(
            () => giveUp(new PeerTimeoutError(method, timeoutMs)),
            Math.min(timeoutMs, LONGEST_TIMER_MS),
          );
    return () => {
      signal?.removeEventListener("abort", onAbort);
      clearTimeout(timer);
    };
  }

  #remove(id: Id): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return undefined;
    this.#waiting.delete(id);
    waiting.release();
    return waiting;
  }
}
