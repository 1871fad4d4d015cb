import { type Line, textOf, textWidth } from "../draw/line.ts";
import type { RenderOptions } from "../draw/render-options.ts";
import { styled } from "../draw/styled.ts";

const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";
const ERASE_LINE = "\u001b[K";
const ERASE_BELOW = "\u001b[J";

/**
 * The bottom of a terminal: final rows that scroll up, and below them live rows that are redrawn in place. Each change is
 * one write, so nothing flickers.
 */
export class LiveRegion {
  readonly #write: (text: string) => void;
  readonly #look: () => RenderOptions;
  /** The text of the live rows. */
  #drawn: readonly string[] = [];
  #shown = "";
  #hidden = false;

  constructor(write: (text: string) => void, look: () => RenderOptions) {
    this.#write = write;
    this.#look = look;
  }

  /** Adds final rows and replaces the live ones. Writes nothing if nothing has changed. */
  draw(final: readonly Line[], live: readonly Line[]): void {
    const below = live.map((line) => this.#row(line)).join("\n");
    if (final.length === 0 && below === this.#shown) return;
    const above = final.map((line) => `${this.#row(line)}\n`).join("");
    const hide = this.#hidden || live.length === 0 ? "" : HIDE_CURSOR;
    // Rows are overwritten and then erased to their end, so that no row is blank in between.
    const erase = this.#drawn.length === 0 ? "" : ERASE_BELOW;
    const [before, after] = this.#isFull(live.at(-1)) ? [erase, ""] : ["", erase];
    this.#write(`${hide}${this.#backToStart()}${before}${above}${below}${after}`);
    this.#hidden ||= live.length > 0;
    this.#drawn = live.map(textOf);
    this.#shown = below;
  }

  /** Removes the live rows and shows the cursor. It can be drawn again. */
  clear(): void {
    const erase = this.#drawn.length === 0 ? "" : `${this.#backToStart()}${ERASE_BELOW}`;
    const show = this.#hidden ? SHOW_CURSOR : "";
    if (erase + show !== "") this.#write(`${erase}${show}`);
    this.#drawn = [];
    this.#shown = "";
    this.#hidden = false;
  }

  /** Moves from the end of the live rows to their start. A terminal that became narrower has wrapped them. */
  #backToStart(): string {
    if (this.#drawn.length === 0) return "";
    const { columns } = this.#look();
    const rows = this.#drawn.reduce((sum, row) => sum + Math.max(1, Math.ceil(textWidth(row) / columns)), 0);
    const up = rows > 1 ? `\u001b[${rows - 1}A` : "";
    return `\r${up}`;
  }

  /** A row, erased to its end. After a full row the cursor is still in the last column, which must not be erased. */
  #row(line: Line): string {
    const text = styled(line, this.#look().colour);
    return this.#isFull(line) ? text : `${text}${ERASE_LINE}`;
  }

  #isFull(line: Line | undefined): boolean {
    return line !== undefined && textWidth(textOf(line)) >= this.#look().columns;
  }
}
