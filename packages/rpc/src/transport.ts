/** Receives what a transport delivers. `closed` is called exactly once, after the last chunk, whichever side ended it. */
export type Receiver = { chunk(bytes: Uint8Array | string): void; closed(reason?: Error): void };

/** A two-way byte pipe. No method throws: a broken pipe is a close, and what is written after it goes nowhere. */
export interface Transport {
  /** Begins to deliver. Called once. */
  start(receiver: Receiver): void;
  /** Sends text; false asks to wait for the next drain. */
  write(text: string): boolean;
  /** Calls the listener whenever a refused writer may continue; also when the pipe breaks, so that no writer waits forever. */
  onDrain(listener: () => void): void;
  /** Stops delivery, so that the other side feels it. */
  pause(): void;
  /** Delivers again. */
  resume(): void;
  /** Ends both directions; what was written before is still sent if the other side reads it. */
  close(): void;
}

/** A transport that forwards everything to another one; subclasses override what they change. */
export class WrappedTransport<Inner extends Transport = Transport> implements Transport {
  protected readonly inner: Inner;

  constructor(inner: Inner) {
    this.inner = inner;
  }

  start(receiver: Receiver): void {
    this.inner.start(receiver);
  }

  write(text: string): boolean {
    return this.inner.write(text);
  }

  onDrain(listener: () => void): void {
    this.inner.onDrain(listener);
  }

  pause(): void {
    this.inner.pause();
  }

  resume(): void {
    this.inner.resume();
  }

  close(): void {
    this.inner.close();
  }
}

/** Two linked transports in one process: what one writes the other receives, in a later microtask. */
export function memoryPair(): [Transport, Transport] {
  const first = new MemoryEnd();
  const second = new MemoryEnd();
  first.link(second);
  second.link(first);
  return [first, second];
}

class MemoryEnd implements Transport {
  readonly #drainListeners: (() => void)[] = [];
  #other: MemoryEnd | undefined;
  #receiver: Receiver | undefined;
  #inbox: string[] = [];
  #paused = false;
  #ending = false;
  #closedReported = false;
  #otherWaits = false;
  #scheduled = false;

  link(other: MemoryEnd): void {
    this.#other = other;
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
    this.#schedule();
  }

  write(text: string): boolean {
    return this.#ending || this.#other === undefined || this.#other.#take(text);
  }

  onDrain(listener: () => void): void {
    this.#drainListeners.push(listener);
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#schedule();
  }

  close(): void {
    this.#inbox = [];
    this.#paused = false;
    this.#endInput();
    if (this.#other !== undefined) this.#other.#endInput();
  }

  /** False when this end will not deliver soon: it is paused or not started. */
  #take(text: string): boolean {
    if (this.#ending) return true;
    this.#inbox.push(text);
    this.#schedule();
    this.#otherWaits ||= this.#receiver === undefined || this.#paused;
    return !this.#otherWaits;
  }

  #endInput(): void {
    if (this.#ending) return;
    this.#ending = true;
    this.#schedule();
    // Nothing that this end writes is read any more, so a writer must not wait.
    queueMicrotask(() => this.#announceDrain());
  }

  #schedule(): void {
    if (this.#scheduled || this.#paused || this.#receiver === undefined) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#deliver();
    });
  }

  #deliver(): void {
    const receiver = this.#receiver;
    if (receiver === undefined) return;
    while (!this.#paused) {
      const text = this.#inbox.shift();
      if (text === undefined) break;
      receiver.chunk(text);
    }
    if (this.#inbox.length > 0) return;
    if (this.#otherWaits && this.#other !== undefined) {
      this.#otherWaits = false;
      this.#other.#announceDrain();
    }
    if (this.#ending && !this.#closedReported) {
      this.#closedReported = true;
      receiver.closed();
    }
  }

  #announceDrain(): void {
    for (const listener of this.#drainListeners) listener();
  }
}
