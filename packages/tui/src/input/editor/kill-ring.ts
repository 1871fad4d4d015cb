const MAX_ENTRIES = 20;

/** Texts that were cut, latest last, as Emacs and shells keep them. */
export class KillRing {
  #entries: string[] = [];

  /** Adds what was cut; to the latest entry if it was cut right after it, at the end or at the start. */
  add(text: string, join?: "end" | "start"): void {
    if (text === "") return;
    const latest = join === undefined ? undefined : this.#entries.pop();
    const entry = join === "start" ? text + (latest ?? "") : (latest ?? "") + text;
    this.#entries = [...this.#entries, entry].slice(-MAX_ENTRIES);
  }

  /** The text that was cut last. */
  get latest(): string | undefined {
    return this.#entries.at(-1);
  }

  /** Changes every entry. */
  rewrite(change: (text: string) => string): void {
    this.#entries = this.#entries.map(change);
  }

  /** Makes the entry before the latest one. */
  rotate(): void {
    const latest = this.#entries.pop();
    if (latest !== undefined) this.#entries.unshift(latest);
  }
}
