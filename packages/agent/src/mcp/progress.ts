import type { Clock } from "@flint/core/ports";
import { displayText } from "@flint/core/text";
import type { Progress } from "@modelcontextprotocol/client";

const MAX_MESSAGE = 500;
const UNTHROTTLED = 100;
const INTERVAL_MS = 1000;

/** Emits the progress of a call: each message once, and after many of them at most one per second. */
export class ProgressReporter {
  readonly #clock: Clock;
  readonly #emit: (message: string) => void;
  #emitted = 0;
  #emittedAt = Number.NEGATIVE_INFINITY;
  #last = "";

  constructor(clock: Clock, emit: (message: string) => void) {
    this.#clock = clock;
    this.#emit = emit;
  }

  /** Handles a progress notification. */
  report({ progress, total, message }: Progress): void {
    const now = this.#clock.now();
    if (this.#emitted >= UNTHROTTLED && now - this.#emittedAt < INTERVAL_MS) return;
    const position = total === undefined ? progress : `${progress}/${total}`;
    const text = displayText(`${position} ${message ?? ""}`, MAX_MESSAGE);
    if (text === this.#last) return;
    this.#last = text;
    this.#emitted += 1;
    this.#emittedAt = now;
    this.#emit(text);
  }
}
