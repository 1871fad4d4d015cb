import { inked, type Line, textOf } from "./line.ts";
import type { Look } from "./look.ts";
import { textWidth } from "./wrap.ts";

const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";
const ERASE_LINE = "\u001b[K";
const ERASE_BELOW = "\u001b[J";

/**
 * The lower end of a terminal: rows that are written once and scroll away, and below them a few that are written
 * over again and again. Each change is one write, so nothing flickers.
 */
export class LiveRegion {
  readonly #write: (text: string) => void;
  readonly #look: () => Look;
  /** What the changing rows say. */
  #drawn: readonly string[] = [];
  #shown = "";
  #hidden = false;

  constructor(write: (text: string) => void, look: () => Look) {
    this.#write = write;
    this.#look = look;
  }

  /** Adds final rows and replaces the changing ones. Writes nothing if the screen looks like that already. */
  draw(final: readonly Line[], live: readonly Line[]): void {
    const below = live.map((line) => this.#row(line)).join("\n");
    if (final.length === 0 && below === this.#shown) return;
    const above = final.map((line) => `${this.#row(line)}\n`).join("");
    const hide = this.#hidden || live.length === 0 ? "" : HIDE_CURSOR;
    // Rows are written over and their rest erased, rather than erased first: so nothing is empty for a moment.
    const erase = this.#drawn.length === 0 ? "" : ERASE_BELOW;
    const [before, after] = this.#isFull(live.at(-1)) ? [erase, ""] : ["", erase];
    this.#write(`${hide}${this.#backToStart()}${before}${above}${below}${after}`);
    this.#hidden ||= live.length > 0;
    this.#drawn = live.map(textOf);
    this.#shown = below;
  }

  /** Takes the changing rows away and gives the cursor back. Draws again if it is used again. */
  clear(): void {
    const erase = this.#drawn.length === 0 ? "" : `${this.#backToStart()}${ERASE_BELOW}`;
    const show = this.#hidden ? SHOW_CURSOR : "";
    if (erase + show !== "") this.#write(`${erase}${show}`);
    this.#drawn = [];
    this.#shown = "";
    this.#hidden = false;
  }

  /** From the end of the last changing row to the start of the first. A narrower terminal has broken them into more. */
  #backToStart(): string {
    if (this.#drawn.length === 0) return "";
    const { columns } = this.#look();
    const rows = this.#drawn.reduce((sum, row) => sum + Math.max(1, Math.ceil(textWidth(row) / columns)), 0);
    const up = rows > 1 ? `\u001b[${rows - 1}A` : "";
    return `\r${up}`;
  }

  /** A row and nothing behind it. At a full row the cursor still stands in its last column, which must stay. */
  #row(line: Line): string {
    const text = inked(line, this.#look().colour);
    return this.#isFull(line) ? text : `${text}${ERASE_LINE}`;
  }

  #isFull(line: Line | undefined): boolean {
    return line !== undefined && textWidth(textOf(line)) >= this.#look().columns;
  }
}
