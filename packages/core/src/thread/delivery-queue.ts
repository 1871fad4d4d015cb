interface Entry {
  readonly ready: Promise<void> | undefined;
  readonly run: () => void;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Runs deliveries strictly in the order in which they were added. One may wait for the disk; then everything behind it
 * waits too, so that nothing overtakes what was stored before it.
 */
export class DeliveryQueue {
  readonly #entries: Entry[] = [];
  #pumping = false;

  /**
   * Resolves when `run` was called and rejects with what it threw; either way the next entry follows. Calls it at once if
   * nothing is pending. What is added from inside a `run` comes after it.
   */
  add(ready: Promise<void> | undefined, run: () => void): Promise<void> {
    const called = new Promise<void>((resolve, reject) => {
      this.#entries.push({ ready, run, resolve, reject });
    });
    if (!this.#pumping) this.#pump();
    return called;
  }

  #pump(): void {
    this.#pumping = true;
    for (let entry = this.#entries.shift(); entry !== undefined; entry = this.#entries.shift()) {
      if (entry.ready !== undefined) {
        this.#runWhenReady(entry, entry.ready);
        return;
      }
      runEntry(entry);
    }
    this.#pumping = false;
  }

  #runWhenReady(entry: Entry, ready: Promise<void>): void {
    const goOn = () => {
      runEntry(entry);
      this.#pump();
    };
    // A failure is handled by the owner of the promise; the order does not depend on it.
    ready.then(goOn, goOn);
  }
}

function runEntry({ run, resolve, reject }: Entry): void {
  try {
    run();
    resolve();
  } catch (error) {
    // Reported to the caller who added the entry; must not stop the others.
    reject(error);
  }
}
