import type { Readable } from "node:stream";

const KEPT_CHARACTERS = 8_192;
const SHOWN_LINES = 20;
// How long stderr may stay open after its process has exited: again while words keep coming, but not for ever, because
// a child of the process may have inherited it.
const FINISH_MS = 250;
const FINISH_ROUNDS = 8;

/** How much of a process's stderr is kept, and where it is passed on. */
export interface StderrTailOptions {
  readonly keptCharacters?: number | undefined;
  /** Receives everything as it arrives. */
  readonly tell?: ((text: string) => void) | undefined;
}

/** The end of what a process wrote to stderr, in bounded memory, whatever the amount. */
export class StderrTail {
  /** Resolves when there will be no more. */
  readonly ended: Promise<void>;
  readonly #stderr: Readable;
  readonly #kept: number;
  #text = "";
  #chunks = 0;
  #finishing: NodeJS.Timeout | undefined;

  constructor(stderr: Readable, { keptCharacters = KEPT_CHARACTERS, tell }: StderrTailOptions = {}) {
    this.#stderr = stderr;
    this.#kept = keptCharacters;
    stderr.setEncoding("utf8");
    stderr.on("data", (text: string) => {
      this.#add(text);
      tell?.(text);
    });
    // A broken pipe of diagnostics is no reason to fail; its close follows.
    stderr.on("error", () => undefined);
    this.ended = new Promise((resolve) => {
      stderr.once("close", () => {
        clearTimeout(this.#finishing);
        resolve();
      });
    });
  }

  /** All that is kept. */
  get text(): string {
    return this.#text.slice(-this.#kept);
  }

  /** At most twenty lines of it, without the blank ones at the end. */
  get lines(): string {
    return this.text.trimEnd().split("\n").slice(-SHOWN_LINES).join("\n");
  }

  /** The process has exited: what it wrote is still read, then there is an end. */
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
    // Cut rarely: each cut copies what is kept.
    if (this.#text.length > 2 * this.#kept) this.#text = this.#text.slice(-this.#kept);
  }
}
