import type { Clock } from "@flint/core/ports";

/** Notices when an agent says nothing for too long although it has something to say. */
export class SilenceWatch {
  /** Resolves when the silence lasted too long; never rejects. */
  readonly tooLong: Promise<void>;
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #isExcused: () => boolean;
  #expire: () => void = () => {};
  #heardAt: number;
  #cancel: () => void;

  /** `isExcused` tells whether it is somebody else's turn to say something, or a tool runs. */
  constructor(clock: Clock, limitMs: number, isExcused: () => boolean) {
    this.#clock = clock;
    this.#heardAt = clock.now();
    this.#limitMs = limitMs;
    this.#isExcused = isExcused;
    this.tooLong = new Promise((resolve) => {
      this.#expire = resolve;
    });
    this.#cancel = clock.after(limitMs, () => this.#look());
  }

  /** A sign of life. As cheap as can be: it comes with every piece of text. */
  heard(): void {
    this.#heardAt = this.#clock.now();
  }

  /** It is not noticed any more. */
  end(): void {
    this.#cancel();
  }

  #look(): void {
    if (this.#isExcused()) this.heard();
    const left = this.#limitMs - (this.#clock.now() - this.#heardAt);
    if (left <= 0) this.#expire();
    else this.#cancel = this.#clock.after(left, () => this.#look());
  }
}
