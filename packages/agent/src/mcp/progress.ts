import type { Clock } from "@flint/core/ports";
import { displayText } from "@flint/core/text";
import type { Progress } from "@modelcontextprotocol/client";

const LONGEST_MESSAGE = 500;
const UNHINDERED = 100;
const PAUSE_MS = 1000;

/** Tells how far a call is: each step once, and after many of them no more than one a second. */
export class ProgressReporter {
  readonly #clock: Clock;
  readonly #emit: (message: string) => void;
  #told = 0;
  #toldAt = Number.NEGATIVE_INFINITY;
  #last = "";

  constructor(clock: Clock, emit: (message: string) => void) {
    this.#clock = clock;
    this.#emit = emit;
  }

  /** Takes what the server said. */
  report({ progress, total, message }: Progress): void {
    const now = this.#clock.now();
    if (this.#told >= UNHINDERED && now - this.#toldAt < PAUSE_MS) return;
    const place = total === undefined ? progress : `${progress}/${total}`;
    const text = displayText(`${place} ${message ?? ""}`, LONGEST_MESSAGE);
    if (text === this.#last) return;
    this.#last = text;
    this.#told += 1;
    this.#toldAt = now;
    this.#emit(text);
  }
}
