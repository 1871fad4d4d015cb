import type { Readable } from "node:stream";

const MAX_CHARACTERS = 8_192;
const SHOWN_LINES = 20;
// Time for which stderr may stay open after its process has exited: extended by new output, but bounded, because a child
// of the process may have inherited it.
const FINISH_MS = 250;
const FINISH_ROUNDS = 8;

/** Limit on the buffered stderr of a process, and the receiver of it as it arrives. */
export interface StderrTailOptions {
  readonly maxCharacters?: number | undefined;
  /** Receives everything as it arrives. */
  readonly onText?: ((text: string) => void) | undefined;
}

/** The end of what a process wrote to stderr, in bounded memory. */
export class StderrTail {
  /** Resolves when there will be no more. */
  readonly ended: Promise<void>;
  readonly #stderr: Readable;
  readonly #maxCharacters: number;
  #text = "";
  #chunks = 0;
  #finishing: NodeJS.Timeout | undefined;

  constructor(stderr: Readable, { maxCharacters = MAX_CHARACTERS, onText }: StderrTailOptions = {}) {
    this.#stderr = stderr;
    this.#maxCharacters = maxCharacters;
    stderr.setEncoding("utf8");
    stderr.on("data", (text: string) => {
      this.#add(text);
      onText?.(text);
    });
    // A broken stderr is not a failure; its close event follows.
    stderr.on("error", () => undefined);
    this.ended = new Promise((resolve) => {
      stderr.once("close", () => {
        clearTimeout(this.#finishing);
        resolve();
      });
    });
  }

  /** Everything in the buffer. */
  get text(): string {
    return this.#text.slice(-this.#maxCharacters);
  }

  /** At most twenty lines of it, without the blank ones at the end. */
  get lines(): string {
    return this.text.trimEnd().split("\n").slice(-SHOWN_LINES).join("\n");
  }

  /** Call when the process has exited: reads what it still wrote, then ends. */
  finish(rounds: number = FINISH_ROUNDS): void {
    const before = this.#chunks;
    this.#finishing = setTimeout(() => {
      // On a busy machine timers run before the data that waits, so look after a round of reading.
      setImmediate(() => {
        if (this.#chunks === before || rounds === 0) this.#stderr.destroy();
        else if (!this.#stderr.closed) this.finish(rounds - 1);
      });
    }, FINISH_MS);
  }

  #add(text: string): void {
    this.#chunks += 1;
    this.#text += text;
    // Cut rarely: each cut copies the buffer.
    if (this.#text.length > 2 * this.#maxCharacters) this.#text = this.#text.slice(-this.#maxCharacters);
  }
}
