import type { Id, RpcError } from "./codec.ts";

/** The other side answered a request with an error. */
export class RemoteError extends Error {
  override readonly name = "RemoteError";
  readonly method: string;
  readonly code: number;
  readonly data: unknown;

  constructor(method: string, error: RpcError) {
    super(error.message);
    this.method = method;
    this.code = error.code;
    this.data = error.data;
  }
}

/** The connection ended before the request was answered, or before it was made. */
export class PeerClosedError extends Error {
  override readonly name = "PeerClosedError";
  readonly method: string;

  constructor(method: string, reason: Error | undefined) {
    const why = reason === undefined ? "" : `: ${reason.message}`;
    super(`the connection closed before "${method}" was answered${why}`, { cause: reason });
    this.method = method;
  }
}

/** The other side did not answer in the time that the caller allowed. */
export class PeerTimeoutError extends Error {
  override readonly name = "PeerTimeoutError";
  readonly method: string;
  readonly timeoutMs: number;

  constructor(method: string, timeoutMs: number) {
    super(`"${method}" was not answered within ${timeoutMs} ms`);
    this.method = method;
    this.timeoutMs = timeoutMs;
  }
}

/** Timeout and cancellation of a request, and its id where the caller numbers requests. */
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

  /** Returns false when no open request has this id. */
  resolve(id: Id, result: unknown): boolean {
    const waiting = this.#remove(id);
    waiting?.resolve(result);
    return waiting !== undefined;
  }

  /** Returns false when no open request has this id. */
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
