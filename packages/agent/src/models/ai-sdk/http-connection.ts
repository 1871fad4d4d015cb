import type { Clock } from "@flint/core/ports";
import { type Problem, ProblemError } from "./problem.ts";

/** Maximum size of one response, and the time for which its endpoint may be silent. */
export interface ConnectionLimits {
  readonly idleMs: number;
  /** The size of one response, and of one line of it. */
  readonly answerBytes: number;
  readonly lineBytes: number;
}

/** Maximum amount of an error response that is read. */
const ERROR_BODY_BYTES = 65_536;

const EXCERPT_CHARACTERS = 300;
const LINE_FEED = 10;

/**
 * The connection of one request. It is closed by `close`, by the caller's signal, when the endpoint is silent for too long
 * or sends too much, and it knows better than the SDK on top of it what went wrong.
 */
export class HttpConnection {
  readonly #clock: Clock;
  readonly #limits: ConnectionLimits;
  readonly #abort = new AbortController();
  readonly #signal: AbortSignal;
  #problem: Problem | undefined;
  #activeAt = 0;
  #bytes = 0;
  #lineBytes = 0;
  #excerpt = "";
  #headers: Headers | undefined;
  #isSent = false;

  constructor(clock: Clock, limits: ConnectionLimits, signal: AbortSignal) {
    this.#clock = clock;
    this.#limits = limits;
    this.#signal = AbortSignal.any([signal, this.#abort.signal]);
  }

  /** The problem of the connection, if it noticed one itself. */
  get problem(): Problem | undefined {
    return this.#problem;
  }

  /** Reports whether a request was sent. */
  get isSent(): boolean {
    return this.#isSent;
  }

  /** The headers of the response, once there is one. */
  get headers(): Headers | undefined {
    return this.#headers;
  }

  /** The beginning of the response. */
  get excerpt(): string {
    return this.#excerpt;
  }

  /** Replaces the global fetch in the SDK. Never follows a redirect. */
  readonly fetch = async (address: string | URL | Request, init?: RequestInit): Promise<Response> => {
    this.#isSent = true;
    const response = await this.#connect(
      fetch(address, { ...init, redirect: "manual", signal: this.#signal }),
    );
    const { status, headers } = response;
    this.#headers = headers;
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

  /** Waits for the next output of the endpoint, and closes the connection if it is silent for too long. */
  async withIdleTimeout<Value>(work: PromiseLike<Value>): Promise<Value> {
    this.#activeAt = this.#clock.now();
    let cancel = () => {};
    const silence = new Promise<never>((_, reject) => {
      const listen = (milliseconds: number): void => {
        cancel = this.#clock.after(milliseconds, () => {
          const left = this.#activeAt + this.#limits.idleMs - this.#clock.now();
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

  async #connect(response: Promise<Response>): Promise<Response> {
    // Expected: anything that prevents a connection.
    try {
      return await response;
    } catch (thrown) {
      throw this.#failed({ kind: "unreachable", reason: networkReason(thrown) });
    }
  }

  /** Counts the body as it is read, no faster than the reader. */
  #metered(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const source = body.getReader();
    const decoder = new TextDecoder();
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      const { done, value } = await this.#next(source);
      if (done) return controller.close();
      this.#activeAt = this.#clock.now();
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
    // Expected: the connection breaks in the middle of the response.
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

  /** Keeps the first problem: later ones follow from it. */
  #failed(problem: Problem): ProblemError {
    this.#problem ??= problem;
    this.close();
    return new ProblemError(this.#problem);
  }
}

function megabytes(bytes: number): string {
  return bytes >= 1_048_576 ? `${Math.round(bytes / 1_048_576)} MiB` : `${Math.round(bytes / 1024)} KiB`;
}

/** The innermost message: the cause is more specific than "fetch failed". */
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
  // Expected: the connection breaks in the middle of an error body. The status is known already.
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      bytes += chunk.length;
      if (bytes >= ERROR_BODY_BYTES) break;
    }
  } catch {
    return text;
  }
  return text;
}
