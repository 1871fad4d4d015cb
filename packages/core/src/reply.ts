/**
 * The way back to whoever called. A caller that cannot be answered must not keep from happening what it called for,
 * so its failure is kept until everything else is done.
 */
export class Reply<Value> {
  readonly #respond: (value: Value) => void;
  #failure: { readonly error: unknown } | undefined;

  constructor(respond: (value: Value) => void) {
    this.#respond = respond;
  }

  /** Answers. Never throws. */
  give(value: Value): void {
    try {
      this.#respond(value);
    } catch (error) {
      this.#failure = { error };
    }
  }

  /** Throws what answering threw. */
  rethrow(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
