import { EVENT_STREAM, type PublishedEvent } from "@flint/protocol";
import type { Redis } from "ioredis";

/** The destination of task events for other programs. Publishing never fails a turn. */
export interface EventSink {
  publish(news: PublishedEvent): void;
}

/** The dependencies of a stream. */
export interface NewsStreamOptions {
  readonly redis: Redis;
  /** The key of the stream, and about how many events it keeps. */
  readonly stream?: string | undefined;
  readonly maxLength?: number | undefined;
  onProblem(message: string): void;
}

const MAX_LENGTH = 100_000;
/**
 * Maximum number of events that are kept while Redis is away; the oldest is dropped first. The authority on
 * tasks is their store.
 */
const MAX_WAITING = 10_000;
/** The timeout of the last events. */
const CLOSE_MS = 5000;

/** A Redis stream of events, one JSON text each. While Redis is away they wait, and are sent in order when it is back. */
export class EventStream implements EventSink {
  readonly #options: NewsStreamOptions;
  #waiting: string[] = [];
  #sending: Promise<void> | undefined;
  #isReported = false;
  #isClosed = false;

  constructor(options: NewsStreamOptions) {
    this.#options = options;
  }

  publish(news: PublishedEvent): void {
    if (this.#isClosed) return;
    this.#waiting.push(JSON.stringify(news));
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  /** Resolves once everything so far was sent. */
  async flushed(): Promise<void> {
    await this.#sending;
  }

  /** Sends what still waits, within this time, and nothing after that. */
  async close(milliseconds = CLOSE_MS): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, milliseconds);
    });
    await Promise.race([this.flushed(), late]).finally(() => clearTimeout(timer));
    this.#isClosed = true;
    const left = this.#waiting.splice(0).length;
    if (left > 0)
      this.#options.onProblem(`Events of tasks that were not sent, because Redis did not answer: ${left}.`);
  }

  async #sendAll(): Promise<void> {
    for (let text = this.#waiting[0]; text !== undefined && !this.#isClosed; text = this.#waiting[0]) {
      // Expected: Redis is unreachable. The connection reconnects, and resends what had no answer.
      try {
        await this.#send(text);
        this.#isReported = false;
        this.#waiting.shift();
      } catch (thrown) {
        this.#reportOnce(thrown);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  async #send(text: string): Promise<void> {
    const { redis, stream = EVENT_STREAM, maxLength = MAX_LENGTH } = this.#options;
    await redis.xadd(stream, "MAXLEN", "~", maxLength, "*", "data", text);
  }

  #reportOnce(thrown: unknown): void {
    if (!this.#isReported) this.#options.onProblem(`Events of tasks wait for Redis: ${String(thrown)}`);
    this.#isReported = true;
  }
}
