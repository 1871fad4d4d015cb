import { visibleText } from "@flint/core/text";

/** The number of lines that are returned. */
const MAX_LINES = 200;

const MAX_LINE_LENGTH = 300;

/** The query of a search. */
export interface SearchQuery {
  readonly pattern: string;
  readonly ignoreCase: boolean;
  /** Only files with matching paths. */
  readonly glob: string | undefined;
}

/** The lines that match, bounded, with notes about what was left out. */
export class SearchResults {
  readonly #lines: string[] = [];
  readonly #notes: string[] = [];

  /** Adds a line. */
  add(path: string, line: number, text: string): void {
    const start = text.replace(/\r$/, "").slice(0, MAX_LINE_LENGTH);
    const shown = start.length < text.trimEnd().length ? `${start} …` : start;
    if (!this.isFull) this.#lines.push(visibleText(`${path}:${line}: ${shown}`));
  }

  /** Notes that something is missing. */
  note(text: string): void {
    this.#notes.push(text);
  }

  /** Reports whether the limit is reached. */
  get isFull(): boolean {
    return this.#lines.length >= MAX_LINES;
  }

  /** The results as text, for the model. */
  get text(): string {
    const full = this.isFull ? [`(stopped after ${MAX_LINES} lines; narrow the search)`] : [];
    const found = this.#lines.length === 0 ? ["(Nothing found.)"] : this.#lines;
    return [...found, ...full, ...this.#notes.map((note) => `(${note})`)].join("\n");
  }
}
