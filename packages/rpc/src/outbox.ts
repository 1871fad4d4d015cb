const BATCH_SIZE = 65_536;
/** `THIS_TICK.then(f)` runs `f` in this tick, at less cost than `queueMicrotask`, which creates an async resource. */
const THIS_TICK = Promise.resolve();

/** The destination of an outbox: `write` returns false to ask for no more before the next drain. */
export type Sink = { write(text: string): boolean; onDrain(listener: () => void): void };

/** Sizes are in characters. `lowWater` is where a full outbox counts as drained, half of `limit` unless given. */
export type OutboxOptions = { limit: number; lowWater?: number };

/**
 * Writes lines in order. Lines of one tick go out in one write; after a refused write it waits for the drain. It never
 * drops a line, so producers must stop while it is `full`.
 */
export class Outbox {
  readonly #sink: Sink;
  readonly #limit: number;
  readonly #lowWater: number;
  readonly #fullListeners: (() => void)[] = [];
  readonly #drainListeners: (() => void)[] = [];
  #flushWaiters: (() => void)[] = [];
  // Lines stay as they came until they leave: many outboxes may hold the same text, and share its memory.
  #lines: string[] = [];
  #first = 0;
  #queued = 0;
  #undrained = 0;
  #blocked = false;
  #scheduled = false;
  #wasFull = false;
  #closed = false;
  readonly #flushScheduled = (): void => {
    this.#scheduled = false;
    this.#flush();
  };

  constructor(sink: Sink, options: OutboxOptions) {
    this.#sink = sink;
    this.#limit = options.limit;
    this.#lowWater = options.lowWater ?? Math.floor(options.limit / 2);
    sink.onDrain(() => this.#onDrain());
  }

  /** Characters that wait here or that the sink has not drained. */
  get size(): number {
    return this.#queued + this.#undrained;
  }

  /** True from the limit on: stop producing until it has drained. */
  get full(): boolean {
    return this.size >= this.#limit;
  }

  /** Called each time the outbox becomes full. */
  onFull(listener: () => void): void {
    this.#fullListeners.push(listener);
  }

  /** Called each time the outbox was full and has fallen to the low-water mark. */
  onDrain(listener: () => void): void {
    this.#drainListeners.push(listener);
  }

  /** Queues one line, given without its newline. After close it does nothing. */
  send(line: string): void {
    if (this.#closed) return;
    this.#lines.push(line);
    this.#queued += line.length + 1;
    this.#schedule();
    if (!this.#wasFull && this.full) {
      this.#wasFull = true;
      for (const listener of this.#fullListeners) listener();
    }
  }

  /** Resolves when everything sent so far is with the sink and drained, or the outbox is closed. */
  flushed(): Promise<void> {
    if (this.size === 0 || this.#closed) return Promise.resolve();
    return new Promise((resolve) => this.#flushWaiters.push(resolve));
  }

  /** Writes what the sink still accepts, drops what is left, and accepts nothing more. */
  close(): void {
    if (this.#closed) return;
    this.#flush();
    this.#closed = true;
    this.#lines = [];
    this.#first = 0;
    this.#queued = 0;
    this.#undrained = 0;
    this.#releaseWaiters();
  }

  #schedule(): void {
    if (this.#scheduled || this.#blocked) return;
    this.#scheduled = true;
    void THIS_TICK.then(this.#flushScheduled);
  }

  #flush(): void {
    while (!this.#blocked && this.#queued > 0) {
      const batch = this.#nextBatch();
      this.#queued -= batch.length;
      if (!this.#sink.write(batch)) {
        this.#blocked = true;
        this.#undrained += batch.length;
      }
    }
    this.#announce();
  }

  #onDrain(): void {
    if (!this.#blocked || this.#closed) return;
    this.#blocked = false;
    this.#undrained = 0;
    this.#flush();
  }

  #nextBatch(): string {
    const [only] = this.#lines;
    if (this.#lines.length === 1 && only !== undefined) {
      this.#lines.pop();
      return `${only}\n`;
    }
    let end = this.#first;
    for (let size = 0; end < this.#lines.length && size < BATCH_SIZE; end += 1) {
      size += (this.#lines[end]?.length ?? 0) + 1;
    }
    const batch = `${this.#lines.slice(this.#first, end).join("\n")}\n`;
    this.#first = end;
    this.#forgetSent();
    return batch;
  }

  /** Compacting now and then makes the cost of a line constant, however long the backlog. */
  #forgetSent(): void {
    if (this.#first * 2 < this.#lines.length) return;
    this.#lines = this.#lines.slice(this.#first);
    this.#first = 0;
  }

  #announce(): void {
    if (this.#wasFull && this.size <= this.#lowWater) {
      this.#wasFull = false;
      for (const listener of this.#drainListeners) listener();
    }
    if (this.size === 0) this.#releaseWaiters();
  }

  #releaseWaiters(): void {
    const waiters = this.#flushWaiters;
    this.#flushWaiters = [];
    for (const resolve of waiters) resolve();
  }
}
