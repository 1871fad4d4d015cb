const LF = 10;

/** The longest line that is read, in bytes. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** Receives what a channel delivers. `closed` is called once, last. */
export interface ChannelListener {
  text(text: string): void;
  closed(reason: Error): void;
}

/** One connection to a server, in whole messages of text. */
export interface Channel {
  /** Starts delivery. Called once. */
  listen(listener: ChannelListener): void;
  send(text: string): void;
  /** Resolves when the connection is closed and what was started for it has ended. */
  close(): Promise<void>;
}

/**
 * Cuts bytes into lines, and delivers each as it was, blank ones too. It shares no code with the servers that are tested,
 * so a mistake in theirs cannot hide. A line that is too long or not UTF-8 is delivered as a remark in parentheses.
 */
export class LineSplitter {
  readonly #deliver: (line: string) => void;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  #parts: Uint8Array[] = [];
  #size = 0;

  constructor(deliver: (line: string) => void) {
    this.#deliver = deliver;
  }

  /** Takes the next bytes and delivers the lines that they complete. */
  push(chunk: Uint8Array): void {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#add(chunk.subarray(start, end));
      this.#finishLine();
      start = end + 1;
    }
    // The owner of the chunk may reuse its memory.
    if (start < chunk.length) this.#add(Uint8Array.from(chunk.subarray(start)));
  }

  #add(part: Uint8Array): void {
    this.#size += part.length;
    if (this.#size > MAX_LINE_BYTES) this.#parts = [];
    else this.#parts.push(part);
  }

  #finishLine(): void {
    const [parts, size] = [this.#parts, this.#size];
    this.#parts = [];
    this.#size = 0;
    if (size > MAX_LINE_BYTES) this.#deliver(`(a line of ${size} bytes)`);
    else this.#deliver(this.#decoded(Buffer.concat(parts, size)));
  }

  #decoded(bytes: Uint8Array): string {
    // Expected: a server that sends bytes that are not UTF-8.
    try {
      return this.#decoder.decode(bytes);
    } catch {
      return "(a line that is not UTF-8)";
    }
  }
}
