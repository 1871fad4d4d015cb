/** Ids that are kept; a request that is still open after so many others gets a new one. */
const MOST_IDS = 10_000;

/** The ids of requests to clients: counted from 0 on, and the same for every client that is asked the same. */
export class RequestIds {
  readonly #ids = new Map<string, number>();
  #next = 0;

  of(key: string): number {
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = this.#next;
    this.#next += 1;
    this.#ids.set(key, id);
    const [oldest] = this.#ids.keys();
    if (this.#ids.size > MOST_IDS && oldest !== undefined) this.#ids.delete(oldest);
    return id;
  }

  /** Nobody is asked this any more. */
  release(key: string): void {
    this.#ids.delete(key);
  }
}
