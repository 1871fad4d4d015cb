import type { Readable } from "node:stream";

const KEPT_CHARACTERS = 8_192;
const KEPT_LINES = 20;
// How long stderr may stay open after its process has exited: again while words keep coming, but not for ever, because
// a child of the process may have inherited it.
const LAST_WORDS_MS = 250;
const LAST_WORDS_ROUNDS = 8;

/** The last lines that a process wrote to stderr, whatever the amount. */
export class StderrTail {
  /** Resolves when there will be no more. */
  readonly ended: Promise<void>;
  readonly #stderr: Readable;
  #text = "";
  #chunks = 0;
  #lastWords: NodeJS.Timeout | undefined;

  constructor(stderr: Readable, tell: (text: string) => void = () => {}) {
    this.#stderr = stderr;
    stderr.setEncoding("utf8");
    stderr.on("data", (text: string) => {
      this.#chunks += 1;
      this.#text = (this.#text + text).slice(-KEPT_CHARACTERS);
      tell(text);
    });
    // A broken pipe of diagnostics is no reason to fail; its close follows.
    stderr.on("error", () => {});
    this.ended = new Promise((resolve) => {
      stderr.once("close", () => {
        clearTimeout(this.#lastWords);
        resolve();
      });
    });
  }

  /** At most twenty lines, without the blank ones at the end. */
  lines(): string {
    return this.#text.trimEnd().split("\n").slice(-KEPT_LINES).join("\n");
  }

  /** The process has exited: what it wrote is still read, then there is an end. */
  finish(rounds: number = LAST_WORDS_ROUNDS): void {
    const before = this.#chunks;
    this.#lastWords = setTimeout(() => {
      // On a busy machine timers run before the data that waits, so look after a round of reading.
      setImmediate(() => {
        if (this.#chunks === before || rounds === 0) this.#stderr.destroy();
        else if (!this.#stderr.closed) this.finish(rounds - 1);
      });
    }, LAST_WORDS_MS);
  }
}
