/** Runs work of one key in order, one at a time; different keys run concurrently. */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Runs the work once everything before it under the same key has settled. */
  run<Value>(key: string, work: () => Promise<Value>): Promise<Value> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const result = before.then(work);
    const tail = result.then(ignore, ignore).then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    this.#tails.set(key, tail);
    return result;
  }

  /** Resolves when everything queued so far has settled. */
  async settled(): Promise<void> {
    await Promise.all(this.#tails.values());
  }
}

function ignore(): void {}
