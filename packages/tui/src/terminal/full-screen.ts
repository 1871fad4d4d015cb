import { cutLine, type Line } from "../draw/line.ts";
import type { RenderOptions } from "../draw/render-options.ts";
import { styled } from "../draw/styled.ts";
import type { CursorPosition } from "./inline-screen.ts";
import { ALTERNATE, CURSOR, ERASE, FRAME, toColumn, toRow } from "./modes.ts";

/** The alternate screen: every row is drawn in place, and only those that changed. What was on the main screen stays. */
export class FullScreen {
  readonly #write: (text: string) => void;
  readonly #look: () => RenderOptions;
  #drawn: readonly string[] | undefined;
  #columns = 0;

  constructor(write: (text: string) => void, look: () => RenderOptions) {
    this.#write = write;
    this.#look = look;
  }

  /** Reports whether it is on. */
  get isOn(): boolean {
    return this.#drawn !== undefined;
  }

  /** Shows exactly these rows; switches to the alternate screen first if needed. */
  draw(lines: readonly Line[], cursor?: CursorPosition): void {
    const look = this.#look();
    const rows = Array.from({ length: look.rows }, (_, row) => this.#row(lines[row] ?? [], look));
    const before = this.#drawn?.length === rows.length && this.#columns === look.columns ? this.#drawn : [];
    const changed = rows.flatMap((row, at) => (row === before[at] ? [] : [`${toRow(at)}${row}${ERASE.row}`]));
    const enter = this.#drawn === undefined ? ALTERNATE.enter : "";
    const place =
      cursor === undefined ? CURSOR.hide : `${toRow(cursor.row)}${toColumn(cursor.column)}${CURSOR.show}`;
    this.#drawn = rows;
    this.#columns = look.columns;
    this.#write(`${FRAME.begin}${enter}${CURSOR.hide}${changed.join("")}${place}${FRAME.end}`);
  }

  /** Goes back to the main screen. */
  leave(): void {
    if (this.#drawn === undefined) return;
    this.#drawn = undefined;
    this.#write(`${FRAME.begin}${ALTERNATE.leave}${CURSOR.show}${FRAME.end}`);
  }

  /** Draws everything the next time, because another program has used the terminal. */
  forget(): void {
    if (this.#drawn !== undefined) this.#drawn = [];
  }

  /** The last column stays free: writing into it makes some terminals scroll. */
  #row(line: Line, look: RenderOptions): string {
    return styled(cutLine(line, look.columns - 1, ""), look.colour, look.light);
  }
}
