import type { Receiver, Transport } from "./transport.ts";

/** A transport that passes everything on to another one. What extends it says what it does otherwise. */
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
