import type { Receiver, Transport } from "@flint/rpc";

/** How much may be read before its reader has to be ready for more. */
const MAX_UNCONFIRMED_BYTES = 256 * 1024;

/** A transport that is read no faster than its content can be processed. */
export class PacedTransport implements Transport {
  readonly #inner: Transport;
  readonly #ready: () => Promise<void>;
  #unconfirmed = 0;
  #isWaiting = false;
  #isPaused = false;

  /** `ready` resolves when more may be read. */
  constructor(inner: Transport, ready: () => Promise<void>) {
    this.#inner = inner;
    this.#ready = ready;
  }

  start(receiver: Receiver): void {
    this.#inner.start({
      chunk: (bytes) => {
        receiver.chunk(bytes);
        this.#count(bytes.length);
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
    this.#resumeInner();
  }

  close(): void {
    this.#inner.close();
  }

  #count(bytes: number): void {
    this.#unconfirmed += bytes;
    if (this.#unconfirmed < MAX_UNCONFIRMED_BYTES || this.#isWaiting) return;
    this.#isWaiting = true;
    this.#inner.pause();
    void this.#ready().finally(() => {
      this.#unconfirmed = 0;
      this.#isWaiting = false;
      this.#resumeInner();
    });
  }

  #resumeInner(): void {
    if (!this.#isWaiting && !this.#isPaused) this.#inner.resume();
  }
}
