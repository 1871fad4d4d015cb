/** Something that is said once, and stays said. */
export class Signal {
  /** Resolves with true when it is said; never, if it is not. */
  readonly given: Promise<true>;
  #isGiven = false;
  #resolve: (value: true) => void = () => {};

  constructor() {
    this.given = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get isGiven(): boolean {
    return this.#isGiven;
  }

  give(): void {
    this.#isGiven = true;
    this.#resolve(true);
  }
}
