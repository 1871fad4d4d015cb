import type { Receiver, Transport } from "@flint/rpc";

/** How much may come in before whoever has to store it is waited for. */
const STRETCH_BYTES = 256 * 1024;

/** A transport that is read no faster than what comes out of it can be dealt with. */
export class PacedTransport implements Transport {
  readonly #inner: Transport;
  readonly #caughtUp: () => Promise<void>;
  #unaccounted = 0;
  #isHeld = false;
  #isPaused = false;

  /** `caughtUp` resolves when more may come. */
  constructor(inner: Transport, caughtUp: () => Promise<void>) {
    this.#inner = inner;
    this.#caughtUp = caughtUp;
  }

  start(receiver: Receiver): void {
    this.#inner.start({
      chunk: (bytes) => {
        receiver.chunk(bytes);
        this.#account(bytes.length);
      },
      closed: (reason) => receiver.closed(reason),
    });
  }

  write(text: string): boolean {
    return this.#inner.write(text);
  }

  onDrain(listener: () => void): void {
    this.#inner.onDrain(listener);
  }

  pause(): void {
    this.#isPaused = true;
    this.#inner.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#flow();
  }

  close(): void {
    this.#inner.close();
  }

  #account(bytes: number): void {
    this.#unaccounted += bytes;
    if (this.#unaccounted < STRETCH_BYTES || this.#isHeld) return;
    this.#isHeld = true;
    this.#inner.pause();
    void this.#caughtUp().finally(() => {
      this.#unaccounted = 0;
      this.#isHeld = false;
      this.#flow();
    });
  }

  #flow(): void {
    if (!this.#isHeld && !this.#isPaused) this.#inner.resume();
  }
}
