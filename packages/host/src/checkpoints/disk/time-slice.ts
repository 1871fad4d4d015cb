/** How long work goes on before others have their turn. */
const SLICE_MS = 6;

/** Cuts long work into short pieces, so that nobody else waits for the whole of it. */
export class TimeSlice {
  #since = performance.now();

  /** Whether it is time to let others have their turn. */
  get isOver(): boolean {
    return performance.now() - this.#since > SLICE_MS;
  }

  /** Lets everybody else have a turn. */
  async pause(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#since = performance.now();
  }
}
