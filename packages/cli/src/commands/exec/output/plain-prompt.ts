import { type Line, styled, textOf } from "../../../screen/line.ts";
import type { Look } from "../../../screen/look.ts";
import { type LineBlock, screenRows, textWidth, wrapLine } from "../../../screen/wrap.ts";
import type { PromptSurface } from "./turn-view.ts";

/** Asks on a terminal with plain output: questions scroll like everything else. */
export class PlainPrompt implements PromptSurface {
  readonly #write: (text: string) => void;
  readonly #look: () => Look;
  #drawn = 0;

  constructor(write: (text: string) => void, look: () => Look) {
    this.#write = write;
    this.#look = look;
  }

  put(block: LineBlock): void {
    this.prompt(undefined);
    const look = this.#look();
    this.#write(
      screenRows(block, look)
        .map((line) => `${styled(line, look.colour)}\n`)
        .join(""),
    );
  }

  /** Overwrites the last row with a carriage return and spaces, which every terminal supports. */
  prompt(line: Line | undefined): void {
    if (line === undefined) {
      if (this.#drawn > 0) this.#write("\n");
      this.#drawn = 0;
      return;
    }
    const look = this.#look();
    const rows = wrapLine(line, look.columns - 1, 2);
    const shown = this.#drawn > 0 ? rows.slice(-1) : rows;
    const width = textWidth(textOf(shown.at(-1) ?? []));
    const text = shown.map((row) => styled(row, look.colour)).join("\n");
    this.#write(`${this.#drawn > 0 ? "\r" : ""}${text}${" ".repeat(Math.max(0, this.#drawn - width))}`);
    this.#drawn = width;
  }
}
