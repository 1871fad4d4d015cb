/** Something that is said once, and stays said. */
export class Latch {
  /** Resolves with true when it is said; never, if it is not. */
  readonly opened: Promise<true>;
  #isGiven = false;
  #resolve: (value: true) => void = () => {};

  constructor() {
    this.opened = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get isOpen(): boolean {
    return this.#isGiven;
  }

  open(): void {
    this.#isGiven = true;
    this.#resolve(true);
  }
}
