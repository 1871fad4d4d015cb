interface Entry {
  readonly ready: Promise<void> | undefined;
  readonly run: () => void;
  readonly done: () => void;
}

/**
 * Tells things strictly in the order they were added. An entry may wait for the disk; then everything behind it
 * waits too, so that nothing overtakes what was stored before it.
 */
export class TellQueue {
  readonly #entries: Entry[] = [];
  #pumping = false;

  /** Whether something waits to be told. */
  get blocked(): boolean {
    return this.#entries.length > 0;
  }

  /** Resolves when `run` was called. Calls it at once if nothing has to be waited for. */
  async add(ready: Promise<void> | undefined, run: () => void): Promise<void> {
    if (ready === undefined && !this.blocked) {
      run();
      return;
    }
    await new Promise<void>((done) => {
      this.#entries.push({ ready, run, done });
      void this.#pump();
    });
  }

  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    for (let entry = this.#entries[0]; entry !== undefined; entry = this.#entries[0]) {
      if (entry.ready !== undefined) await entry.ready;
      try {
        entry.run();
      } finally {
        this.#entries.shift();
        entry.done();
      }
    }
    this.#pumping = false;
  }
}
