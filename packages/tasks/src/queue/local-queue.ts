import { type QueuedRun, type RunName, type RunQueue, type RunTaker, runKey } from "./run-queue.ts";

type Handler = Parameters<RunQueue["take"]>[2];

interface WaitingRun extends QueuedRun {
  readonly order: number;
  readonly readyAt: number;
}

/** A queue in the memory of this process. */
export class LocalQueue implements RunQueue {
  readonly #now: () => number;
  readonly #waiting = new Map<string, WaitingRun>();
  readonly #handled = new Set<string>();
  readonly #takers = new Set<LocalTaker>();
  #order = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  async put(run: QueuedRun): Promise<void> {
    const key = keyOf(run);
    if (this.#waiting.has(key) || this.#handled.has(key)) return;
    this.#order += 1;
    const readyAt = this.#now() + (run.delayMs ?? 0);
    this.#waiting.set(key, { ...run, order: this.#order, readyAt });
    this.#deliver();
  }

  take(pools: readonly string[], concurrency: number, handler: Handler): RunTaker {
    const taker = new LocalTaker(pools, concurrency, handler, () => this.#takers.delete(taker));
    this.#takers.add(taker);
    this.#deliver();
    return taker;
  }

  async remove(run: RunName): Promise<void> {
    this.#waiting.delete(keyOf(run));
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#waiting.clear();
    await Promise.all([...this.#takers].map((taker) => taker.close()));
  }

  #deliver(): void {
    for (const taker of this.#takers)
      while (taker.hasRoom) {
        const next = this.#next(taker);
        if (next === undefined) break;
        const key = keyOf(next);
        this.#waiting.delete(key);
        this.#handled.add(key);
        taker.handle(next, () => {
          this.#handled.delete(key);
          this.#deliver();
        });
      }
    this.#setTimer();
  }

  #next(taker: LocalTaker): WaitingRun | undefined {
    const now = this.#now();
    let best: WaitingRun | undefined;
    for (const run of this.#waiting.values()) {
      if (run.readyAt > now || !taker.takes(run.pool)) continue;
      const isBetter =
        best === undefined ||
        run.priority > best.priority ||
        (run.priority === best.priority && run.order < best.order);
      if (isBetter) best = run;
    }
    return best;
  }

  #setTimer(): void {
    clearTimeout(this.#timer);
    const now = this.#now();
    const later = [...this.#waiting.values()].filter(({ readyAt }) => readyAt > now);
    if (later.length === 0) return;
    const next = Math.min(...later.map(({ readyAt }) => readyAt));
    this.#timer = setTimeout(() => this.#deliver(), next - now);
    this.#timer.unref();
  }
}

class LocalTaker implements RunTaker {
  readonly #pools: ReadonlySet<string>;
  readonly #concurrency: number;
  readonly #handler: Handler;
  readonly #onClose: () => void;
  readonly #running = new Set<Promise<void>>();
  #isClosed = false;

  constructor(pools: readonly string[], concurrency: number, handler: Handler, onClose: () => void) {
    this.#pools = new Set(pools);
    this.#concurrency = concurrency;
    this.#handler = handler;
    this.#onClose = onClose;
  }

  get hasRoom(): boolean {
    return !this.#isClosed && this.#running.size < this.#concurrency;
  }

  takes(pool: string): boolean {
    return this.#pools.has(pool);
  }

  handle({ task, fence }: QueuedRun, done: () => void): void {
    const running = this.#handler({ task, fence }).finally(() => {
      this.#running.delete(running);
      done();
    });
    this.#running.add(running);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#onClose();
    await Promise.all(this.#running);
  }
}

function keyOf(run: RunName): string {
  return `${run.pool} ${runKey(run)}`;
}
