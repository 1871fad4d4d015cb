import type { Clock } from "@flint/core/ports";
import { type Problem, ProblemError } from "./problem.ts";

/** How much of one step is taken, and how long its endpoint may be silent. */
export interface ConnectionLimits {
  readonly idleMs: number;
  /** Bytes of one answer, and of one line of it. */
  readonly answerBytes: number;
  readonly lineBytes: number;
}

/** How much of an answer that says no is read. */
const REFUSAL_BYTES = 65_536;

const EXCERPT_CHARACTERS = 300;
const LINE_FEED = 10;

/**
 * The connection of one request. It is closed by `close`, by the caller's signal, by silence and by a flood, and it
 * knows better than any library on top of it what went wrong.
 */
export class HttpConnection {
  readonly #clock: Clock;
  readonly #limits: ConnectionLimits;
  readonly #abort = new AbortController();
  readonly #signal: AbortSignal;
  #problem: Problem | undefined;
  #heardAt = 0;
  #bytes = 0;
  #lineBytes = 0;
  #excerpt = "";
  #isSent = false;

  constructor(clock: Clock, limits: ConnectionLimits, signal: AbortSignal) {
    this.#clock = clock;
    this.#limits = limits;
    this.#signal = AbortSignal.any([signal, this.#abort.signal]);
  }

  /** What went wrong, if the connection itself saw it. */
  get problem(): Problem | undefined {
    return this.#problem;
  }

  /** Whether a request was made at all. */
  get isSent(): boolean {
    return this.#isSent;
  }

  /** The beginning of what was answered. */
  get excerpt(): string {
    return this.#excerpt;
  }

  /** What the SDK calls in the place of the global one. Never follows to another address. */
  readonly fetch = async (address: string | URL | Request, init?: RequestInit): Promise<Response> => {
    this.#isSent = true;
    const response = await this.#reached(
      fetch(address, { ...init, redirect: "manual", signal: this.#signal }),
    );
    const { status, headers } = response;
    const location = headers.get("location");
    if (status >= 300 && status < 400 && location !== null) {
      await response.body?.cancel();
      throw this.#failed({ kind: "redirect", status, location });
    }
    if (!response.ok) {
      const body = await readStart(response);
      throw this.#failed({ kind: "status", status, headers, body });
    }
    return new Response(response.body === null ? null : this.#metered(response.body), { status, headers });
  };

  /** Waits for what the endpoint gives next, but ends the connection if it is silent for too long. */
  async withIdleTimeout<Value>(work: PromiseLike<Value>): Promise<Value> {
    this.#heardAt = this.#clock.now();
    let cancel = () => {};
    const silence = new Promise<never>((_, reject) => {
      const listen = (milliseconds: number): void => {
        cancel = this.#clock.after(milliseconds, () => {
          const left = this.#heardAt + this.#limits.idleMs - this.#clock.now();
          if (left > 0) listen(left);
          else reject(this.#failed({ kind: "silent", milliseconds: this.#limits.idleMs }));
        });
      };
      listen(this.#limits.idleMs);
    });
    try {
      return await Promise.race([work, silence]);
    } finally {
      cancel();
    }
  }

  close(): void {
    this.#abort.abort();
  }

  async #reached(answer: Promise<Response>): Promise<Response> {
    // Expected: everything that keeps a connection from coming about.
    try {
      return await answer;
    } catch (thrown) {
      throw this.#failed({ kind: "unreachable", reason: networkReason(thrown) });
    }
  }

  /** The answer as it is asked for, counted. Waits in front of a reader that is slow. */
  #metered(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const source = body.getReader();
    const decoder = new TextDecoder();
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      const { done, value } = await this.#next(source);
      if (done) return controller.close();
      this.#heardAt = this.#clock.now();
      if (this.#excerpt.length < EXCERPT_CHARACTERS)
        this.#excerpt = (this.#excerpt + decoder.decode(value, { stream: true })).slice(
          0,
          EXCERPT_CHARACTERS,
        );
      this.#count(value);
      controller.enqueue(value);
    };
    return new ReadableStream({ pull, cancel: (reason) => source.cancel(reason) }, { highWaterMark: 0 });
  }

  async #next(source: ReadableStreamDefaultReader<Uint8Array>) {
    // Expected: the connection breaks in the middle of the answer.
    try {
      return await source.read();
    } catch {
      throw this.#failed({ kind: "cut" });
    }
  }

  #count(chunk: Uint8Array): void {
    const lineEnd = chunk.lastIndexOf(LINE_FEED);
    this.#bytes += chunk.length;
    this.#lineBytes = lineEnd === -1 ? this.#lineBytes + chunk.length : chunk.length - lineEnd - 1;
    if (this.#bytes > this.#limits.answerBytes)
      throw this.#failed({ kind: "flood", what: `more than ${megabytes(this.#limits.answerBytes)}` });
    if (this.#lineBytes > this.#limits.lineBytes)
      throw this.#failed({ kind: "flood", what: `a line of more than ${megabytes(this.#limits.lineBytes)}` });
  }

  /** The first thing that went wrong is the reason; what follows from it is not. */
  #failed(problem: Problem): ProblemError {
    this.#problem ??= problem;
    this.close();
    return new ProblemError(this.#problem);
  }
}

function megabytes(bytes: number): string {
  return bytes >= 1_048_576 ? `${Math.round(bytes / 1_048_576)} MiB` : `${Math.round(bytes / 1024)} KiB`;
}

/** The innermost message: "fetch failed" says nothing, its cause does. */
export function networkReason(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  if (thrown.cause instanceof Error) return networkReason(thrown.cause);
  // An AggregateError of several addresses has no message of its own.
  const code = "code" in thrown && typeof thrown.code === "string" ? thrown.code : thrown.name;
  return thrown.message === "" ? code : thrown.message;
}

async function readStart(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  // Expected: the connection breaks while it says why it says no. The status is known already.
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      bytes += chunk.length;
      if (bytes >= REFUSAL_BYTES) break;
    }
  } catch {
    return text;
  }
  return text;
}
