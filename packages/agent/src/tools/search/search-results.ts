import { visibleText } from "../../text.ts";

/** How many lines are told. */
const TOLD = 200;

const LINE_CHARACTERS = 300;

/** A search that is wanted. */
export interface SearchQuery {
  readonly pattern: string;
  readonly ignoreCase: boolean;
  /** Only files with such paths. */
  readonly glob: string | undefined;
}

/** Lines that were found, as they are told: bounded, and with what was left out. */
export class SearchResults {
  readonly #lines: string[] = [];
  readonly #notes: string[] = [];

  /** Takes a line that was found. */
  add(path: string, line: number, text: string): void {
    const start = text.replace(/\r$/, "").slice(0, LINE_CHARACTERS);
    const shown = start.length < text.trimEnd().length ? `${start} …` : start;
    if (!this.isFull) this.#lines.push(visibleText(`${path}:${line}: ${shown}`));
  }

  /** Says that something is missing. */
  note(text: string): void {
    this.#notes.push(text);
  }

  /** Whether no further line is told. */
  get isFull(): boolean {
    return this.#lines.length >= TOLD;
  }

  /** All of it, for the model. */
  get text(): string {
    const full = this.isFull ? [`(stopped after ${TOLD} lines; search for something narrower)`] : [];
    const found = this.#lines.length === 0 ? ["(Nothing was found.)"] : this.#lines;
    return [...found, ...full, ...this.#notes.map((note) => `(${note})`)].join("\n");
  }
}
