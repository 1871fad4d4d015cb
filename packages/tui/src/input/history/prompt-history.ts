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

  /** Reports whether an earlier prompt is shown. */
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
