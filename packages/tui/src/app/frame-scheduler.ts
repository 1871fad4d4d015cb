import type { Clock } from "@flint/core/ports";

/** At most about 15 frames a second: text that streams is read, not watched, and a key is drawn at once. */
const FRAME_MS = 66;

/** Draws at the right moments: at once after a key, together for a stream of changes, and never when nothing changes. */
export class FrameScheduler {
  readonly #clock: Pick<Clock, "after" | "monotonic">;
  readonly #draw: () => void;
  #lastAt = Number.NEGATIVE_INFINITY;
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;
  #stopped = false;

  constructor(clock: Pick<Clock, "after" | "monotonic">, draw: () => void) {
    this.#clock = clock;
    this.#draw = draw;
  }

  /** Draws with the next frame. */
  soon(): void {
    const next = this.#lastAt + FRAME_MS;
    // Called with every piece of text, so it reads the clock only if it has to.
    if (this.#stopped || (this.#timer !== undefined && this.#timer.at <= next)) return;
    const now = this.#clock.monotonic();
    this.#plan(Math.max(now, next), now);
  }

  /** Draws after this many milliseconds at the latest. */
  after(milliseconds: number): void {
    if (this.#stopped) return;
    const now = this.#clock.monotonic();
    this.#plan(now + milliseconds, now);
  }

  /** Draws at once. */
  now(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#stopped) return;
    this.#lastAt = this.#clock.monotonic();
    this.#draw();
  }

  /** Draws no more. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#stopped = true;
  }

  #plan(at: number, now: number): void {
    if (this.#timer !== undefined && this.#timer.at <= at) return;
    this.#timer?.cancel();
    this.#timer = { at, cancel: this.#clock.after(at - now, () => this.now()) };
  }
}
