/** A prompt that was sent, and in which folder. */
export interface SentPrompt {
  readonly text: string;
  readonly folder: string;
}

/** The prompts that the arrow keys go through: those of a folder, oldest first, each text once, at its last use. */
export function promptsIn(prompts: readonly SentPrompt[], folder: string): readonly string[] {
  return unique(prompts.filter((prompt) => prompt.folder === folder).map(({ text }) => text));
}

/** The prompts that a search goes through: all of them, those of the folder last, so that they are found first. */
export function promptsForSearch(prompts: readonly SentPrompt[], folder: string): readonly string[] {
  const others = prompts.filter((prompt) => prompt.folder !== folder).map(({ text }) => text);
  return unique([...others, ...promptsIn(prompts, folder)]);
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.toReversed())].reverse();
}

/**
 * Goes through earlier prompts with the arrow keys. What the user was writing is the last step forward, and nothing that
 * was edited on the way is lost before a prompt is sent.
 */
export class HistoryWalk {
  readonly #prompts: readonly string[];
  readonly #edited = new Map<number, string>();
  #at: number;

  constructor(prompts: readonly string[]) {
    this.#prompts = prompts;
    this.#at = prompts.length;
  }

  /** Whether an earlier prompt is shown. */
  get isBack(): boolean {
    return this.#at < this.#prompts.length;
  }

  /** The prompt before; undefined if there is none. */
  back(current: string): string | undefined {
    return this.#go(this.#at - 1, current);
  }

  /** The prompt after, at last what the user was writing; undefined if that is shown already. */
  forward(current: string): string | undefined {
    return this.#go(this.#at + 1, current);
  }

  #go(to: number, current: string): string | undefined {
    if (to < 0 || to > this.#prompts.length) return undefined;
    this.#edited.set(this.#at, current);
    this.#at = to;
    return this.#edited.get(to) ?? this.#prompts[to] ?? "";
  }
}

/** A search through earlier prompts while its query is typed: each key narrows it, and a key goes on to the next match. */
export class HistorySearch {
  readonly #prompts: readonly string[];
  #query = "";
  #at: number;

  constructor(prompts: readonly string[]) {
    this.#prompts = prompts;
    this.#at = prompts.length - 1;
  }

  get query(): string {
    return this.#query;
  }

  /** The prompt that matches; undefined if none does, or nothing is searched for yet. */
  get match(): string | undefined {
    return this.#query === "" ? undefined : this.#prompts[this.#at];
  }

  /** Whether something is searched for that no prompt has. */
  get isFailing(): boolean {
    return this.#query !== "" && this.match === undefined;
  }

  /** Types into the query. The match stays if it still matches. */
  type(text: string): void {
    this.#query += text;
    this.#at = this.#find(Math.max(0, Math.min(this.#at, this.#prompts.length - 1)), -1);
  }

  /** Takes the last character of the query back, and searches again from the latest prompt. */
  erase(): void {
    this.#query = Array.from(this.#query).slice(0, -1).join("");
    this.#at = this.#find(this.#prompts.length - 1, -1);
  }

  /** Goes on to an older match, if there is one. */
  older(): void {
    this.#step(-1);
  }

  /** Goes back to a newer match, if there is one. */
  newer(): void {
    this.#step(1);
  }

  #step(by: -1 | 1): void {
    const next = this.#find(this.#at + by, by);
    if (next !== -1) this.#at = next;
  }

  /** The nearest match in a direction, without regard to case unless the query has a capital letter; -1 if none. */
  #find(from: number, by: -1 | 1): number {
    const isExact = this.#query !== this.#query.toLowerCase();
    for (let at = from; at >= 0 && at < this.#prompts.length; at += by) {
      const text = this.#prompts[at] ?? "";
      if ((isExact ? text : text.toLowerCase()).includes(this.#query)) return at;
    }
    return -1;
  }
}
