import type { Readable, Writable } from "node:stream";
import type { Receiver, Transport } from "../transport.ts";

// Time for which output is read after writing failed: enough for the last output of a dying process, extended while
// more arrives, but bounded.
const LAST_OUTPUT_MS = 250;
const LAST_OUTPUT_ROUNDS = 8;
// Time for which a closed transport waits for the other side to take what was written.
const LINGER_MS = 1000;

const ORDINARY_ENDS = new Set([
  "EPIPE",
  "ECONNRESET",
  "ERR_STREAM_DESTROYED",
  "ERR_STREAM_WRITE_AFTER_END",
  "ERR_STREAM_PREMATURE_CLOSE",
]);

/** Overrides how text is written, and whether closing leaves the stream open. */
export type WriterOptions = { write?(text: string): boolean; keepOpen?: boolean };

/** A transport over any pair of Node streams: pipes of a child process, or one socket given twice. */
export function streamTransport(
  readable: Readable,
  writable: Writable,
  options: WriterOptions = {},
): Transport {
  return new StreamTransport(readable, writable, options);
}

class StreamTransport implements Transport {
  readonly #readable: Readable;
  readonly #writable: Writable;
  readonly #options: WriterOptions;
  readonly #drainListeners: (() => void)[] = [];
  #receiver: Receiver | undefined;
  #end: { reason: Error | undefined } | undefined;
  #broken = false;
  #chunks = 0;
  #lastOutput: NodeJS.Timeout | undefined;

  constructor(readable: Readable, writable: Writable, options: WriterOptions) {
    this.#readable = readable;
    this.#writable = writable;
    this.#options = options;
    // Listening from the first moment: an early error without a listener would end the process.
    readable.on("end", () => this.#finish(undefined));
    readable.on("close", () => this.#finish(undefined));
    readable.on("error", (error) => this.#finish(reasonOf(error)));
    writable.on("drain", () => this.#announceDrain());
    writable.on("close", () => this.#breakWriting(undefined));
    writable.on("error", (error) => this.#breakWriting(reasonOf(error)));
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
    if (this.#end !== undefined) {
      const { reason } = this.#end;
      queueMicrotask(() => receiver.closed(reason));
      return;
    }
    this.#readable.on("data", (chunk: Uint8Array | string) => {
      if (this.#end !== undefined) return;
      this.#chunks += 1;
      receiver.chunk(chunk);
    });
  }

  write(text: string): boolean {
    if (this.#broken || this.#writable.destroyed || this.#writable.writableEnded) return true;
    return this.#options.write === undefined ? this.#writable.write(text) : this.#options.write(text);
  }

  onDrain(listener: () => void): void {
    this.#drainListeners.push(listener);
  }

  pause(): void {
    this.#readable.pause();
  }

  resume(): void {
    if (this.#end === undefined) this.#readable.resume();
  }

  close(): void {
    this.#finish(undefined);
    if (this.#options.keepOpen !== true) this.#endWriting();
    if (!Object.is(this.#readable, this.#writable)) this.#readable.destroy();
  }

  #finish(reason: Error | undefined): void {
    if (this.#end !== undefined) return;
    this.#end = { reason };
    clearTimeout(this.#lastOutput);
    const receiver = this.#receiver;
    if (receiver !== undefined) queueMicrotask(() => receiver.closed(reason));
  }

  /** Writing failed. What the other side wrote before is still read, so the transport closes when reading ends. */
  #breakWriting(reason: Error | undefined): void {
    if (this.#broken) return;
    this.#broken = true;
    this.#announceDrain();
    if (this.#end === undefined) this.#awaitLastOutput(reason, LAST_OUTPUT_ROUNDS);
  }

  #awaitLastOutput(reason: Error | undefined, rounds: number): void {
    const before = this.#chunks;
    this.#lastOutput = setTimeout(() => {
      // On a busy machine timers run before the data that is waiting, so look again after a round of reading.
      setImmediate(() => {
        if (this.#chunks === before || rounds === 0) this.#finish(reason);
        else if (this.#end === undefined) this.#awaitLastOutput(reason, rounds - 1);
      });
    }, LAST_OUTPUT_MS);
    this.#lastOutput.unref();
  }

  #endWriting(): void {
    if (this.#writable.destroyed) return;
    const linger = setTimeout(() => this.#writable.destroy(), LINGER_MS);
    linger.unref();
    this.#writable.once("close", () => clearTimeout(linger));
    this.#writable.end(() => this.#writable.destroy());
  }

  #announceDrain(): void {
    for (const listener of this.#drainListeners) listener();
  }
}

/** Undefined for the ordinary ways in which a peer disconnects. */
function reasonOf(error: NodeJS.ErrnoException): Error | undefined {
  return error.code !== undefined && ORDINARY_ENDS.has(error.code) ? undefined : error;
}

let claimed = false;

/**
 * The transport of a server that was started as a child: stdin in, stdout out. Claims stdout for the wire first:
 * from then on everything else that this process prints there (console.log, a library) goes to stderr. Once per process.
 */
export function stdioTransport(): Transport {
  if (claimed) throw new Error("stdin and stdout already carry a connection; use a socket for a second one");
  claimed = true;
  // Closing leaves stdout open: its end is the end of the process, and late prints still need somewhere to go.
  return streamTransport(process.stdin, process.stdout, { write: claimStdout(), keepOpen: true });
}

/** Sends everything that uses `process.stdout` to stderr and returns the only way left to write to the real one. */
function claimStdout(): (text: string) => boolean {
  const { stdout, stderr } = process;
  const writeToWire = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  // A library that ends stdout would cut the wire.
  stdout.end = () => stdout;
  // A closed stderr must not end the server.
  stderr.on("error", () => {});
  return (text) => writeToWire(text);
}
