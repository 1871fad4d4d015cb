/** So many things at once; the others wait. */
export class ConcurrencyLimit {
  readonly #size: number;
  readonly #waiting: (() => void)[] = [];
  #used = 0;
  /** Called when the last one is taken. */
  onFull: () => void = () => {};
  /** Called when one is free again after all were taken. */
  onFree: () => void = () => {};

  constructor(size: number) {
    this.#size = size;
  }

  async use(action: () => Promise<void>): Promise<void> {
    if (this.#used >= this.#size) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#used += 1;
    if (this.#used === this.#size) this.onFull();
    try {
      await action();
    } finally {
      const next = this.#waiting.shift();
      if (next !== undefined) next();
      else {
        this.#used -= 1;
        if (this.#used === this.#size - 1) this.onFree();
      }
    }
  }
}
