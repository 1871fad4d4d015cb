import type { Receiver, Transport } from "./transport.ts";

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
  #closedTold = false;
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
    // Nobody takes what this end has to write any more, so a writer must not wait.
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
    if (this.#ending && !this.#closedTold) {
      this.#closedTold = true;
      receiver.closed();
    }
  }

  #announceDrain(): void {
    for (const listener of this.#drainListeners) listener();
  }
}
