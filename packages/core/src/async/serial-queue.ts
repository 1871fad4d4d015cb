/** Runs one piece of work at a time, in the order it was given. A failure belongs to its caller alone. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Whether anything runs or waits. */
  get busy(): boolean {
    return this.#waiting > 0;
  }

  run<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#waiting += 1;
    const result = this.#last.then(work).finally(() => {
      this.#waiting -= 1;
    });
    // The next one starts whatever became of this one; its failure is told to whoever called `run`.
    this.#last = result.catch(() => undefined);
    return result;
  }
}
