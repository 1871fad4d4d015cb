import { cellsOf } from "../draw/line.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what a terminal obeys
const ESCAPE = /^\u001b\[(\??)(\d*)[\d;]*([A-Za-z])/;

/** As much of a terminal as is needed to see what is left on it. It fails at a sequence that it does not know. */
export class FakeTerminal {
  readonly #columns: number;
  #rows: string[][] = [[]];
  #row = 0;
  #column = 0;
  #cursorShown = true;
  #writes = 0;

  constructor(columns = 80) {
    this.#columns = columns;
  }

  /** The rows on it, with those that have scrolled away. */
  get rows(): string[] {
    return this.#rows.map((row) =>
      Array.from(row, (cell) => cell ?? " ")
        .join("")
        .trimEnd(),
    );
  }

  /** The rows as one text, without empty ones at its end. */
  get text(): string {
    return this.rows.join("\n").trimEnd();
  }

  get cursorShown(): boolean {
    return this.#cursorShown;
  }

  get writes(): number {
    return this.#writes;
  }

  /** Puts something on it, as if the terminal had moved its content itself; the cursor is behind the last row. */
  replace(rows: readonly string[]): void {
    this.#rows = rows.map((row) => [...row]);
    this.#row = rows.length - 1;
    this.#column = rows.at(-1)?.length ?? 0;
  }

  readonly write = (text: string): void => {
    this.#writes += 1;
    for (let rest = text; rest !== ""; ) rest = rest.slice(this.#take(rest));
  };

  #take(text: string): number {
    const [sequence, question, number, letter] = ESCAPE.exec(text) ?? [];
    if (sequence !== undefined) {
      this.#obey(`${question}${letter}`, Number(number));
      return sequence.length;
    }
    if (text.startsWith("\r\n")) return 1;
    const [cell] = cellsOf(text.slice(0, 16));
    if (cell === undefined) return 1;
    if (cell.text === "\r") this.#column = 0;
    else if (cell.text === "\n") this.#newLine();
    else this.#put(cell.text, cell.width);
    return cell.text.length;
  }

  #obey(what: string, number: number): void {
    switch (what) {
      case "A":
        this.#row = Math.max(0, this.#row - number);
        return;
      case "K":
        this.#rows[this.#row]?.splice(this.#column);
        return;
      case "J":
        this.#rows[this.#row]?.splice(this.#column);
        this.#rows.splice(this.#row + 1);
        return;
      case "?l":
        this.#cursorShown = false;
        return;
      case "?h":
        this.#cursorShown = true;
        return;
      case "m":
        return;
      default:
        throw new Error(`Unexpected escape sequence: ${what}`);
    }
  }

  #newLine(): void {
    this.#row += 1;
    this.#column = 0;
    this.#rows[this.#row] ??= [];
  }

  #put(character: string, width: number): void {
    if (character < " ") throw new Error(`A control character was written: ${JSON.stringify(character)}`);
    if (this.#column + width > this.#columns) this.#newLine();
    const row = this.#rows[this.#row] ?? [];
    row[this.#column] = character;
    for (let more = 1; more < width; more += 1) row[this.#column + more] = "";
    this.#column += width;
  }
}
