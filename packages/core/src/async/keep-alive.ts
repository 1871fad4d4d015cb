/** Reasons to wait: as long as there is one, `released` does not resolve. */
export class KeepAlive {
  readonly #open = new Set<Promise<void>>();

  /** Adds a reason; the returned function takes it away. */
  acquire(): () => void {
    let resolve = () => {};
    const held = new Promise<void>((done) => {
      resolve = done;
    });
    this.#open.add(held);
    return () => {
      this.#open.delete(held);
      resolve();
    };
  }

  async released(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
  }
}
