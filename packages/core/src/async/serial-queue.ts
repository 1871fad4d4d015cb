/** Runs one task at a time, in the order in which they were added. A failure is only reported to its caller. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();
  #pending = 0;

  /** Whether a task is running or waiting. */
  get busy(): boolean {
    return this.#pending > 0;
  }

  run<Value>(task: () => Promise<Value>): Promise<Value> {
    this.#pending += 1;
    const result = this.#last.then(task).finally(() => {
      this.#pending -= 1;
    });
    // The next task runs even if this one fails.
    this.#last = result.catch(() => undefined);
    return result;
  }
}
