/** Who listens to a transport. `closed` is called exactly once, after the last chunk, whichever side ended it. */
export type Receiver = { chunk(bytes: Uint8Array | string): void; closed(reason?: Error): void };

/** A two-way byte pipe. No method throws: a broken pipe is a close, and what is written after it goes nowhere. */
export interface Transport {
  /** Begins to deliver. Called once. */
  start(receiver: Receiver): void;
  /** Sends text; false asks to wait for the next drain. */
  write(text: string): boolean;
  /** Calls the listener whenever a refused writer may go on; also when the pipe breaks, so that no writer waits for ever. */
  onDrain(listener: () => void): void;
  /** Stops delivery, so that the other side feels it. */
  pause(): void;
  /** Delivers again. */
  resume(): void;
  /** Ends both directions; what was written before is still sent if the other side reads it. */
  close(): void;
}
