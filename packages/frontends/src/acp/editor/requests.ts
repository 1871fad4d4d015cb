import { type Clock, pause } from "@flint/core/ports";
import type { ClientAsks } from "../../shared/client-asks.ts";

/** Time within which an editor must answer requests that need no user. */
const ANSWER_MS = 10_000;

/** Requests that an editor answers itself, in one session. */
export class EditorRequests {
  readonly #asks: ClientAsks;
  readonly #clock: Clock;
  readonly #sessionId: string;

  constructor(asks: ClientAsks, clock: Clock, sessionId: string) {
    this.#asks = asks;
    this.#clock = clock;
    this.#sessionId = sessionId;
  }

  /** The answer. Rejects if the editor refuses, is gone, does not answer in time, or if `signal` is aborted. */
  async answer(method: string, params: object, signal?: AbortSignal): Promise<unknown> {
    const given = new AbortController();
    const asked = this.unbounded(method, params, given.signal);
    try {
      return await this.inTime(method, asked, signal);
    } finally {
      given.abort(new Error("not waited for any longer"));
    }
  }

  /** The answer, however long it takes. Rejects if the editor refuses or is gone, or if `signal` is aborted. */
  unbounded(method: string, params: object, signal?: AbortSignal): Promise<unknown> {
    return this.#asks.request(method, { sessionId: this.#sessionId, ...params }, signal);
  }

  /** Resolves to the answer of a request, or rejects if it does not come in time. */
  async inTime<Value>(method: string, asked: Promise<Value>, signal?: AbortSignal): Promise<Value> {
    const settled = new AbortController();
    const stop = () => settled.abort();
    signal?.addEventListener("abort", stop, { once: true });
    const limit = (
      signal?.aborted === true ? Promise.resolve() : pause(this.#clock, ANSWER_MS, settled.signal)
    ).then(() => {
      if (signal?.aborted === true) throw new Error("It was interrupted.");
      throw new Error(`It did not answer ${method} within ${ANSWER_MS / 1000} s.`);
    });
    try {
      return await Promise.race([asked, limit]);
    } finally {
      limit.catch(() => undefined);
      stop();
      signal?.removeEventListener("abort", stop);
    }
  }
}
