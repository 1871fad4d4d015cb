import { appendAt } from "@flint/protocol";
import { MarkdownStream, parseMarkdown } from "@flint/view/markdown";
import type { Line } from "./line.ts";
import { blockRows, codeRows, markdownRows } from "./markdown.ts";
import type { RenderOptions } from "./render-options.ts";

const FENCED = /^ {0,3}(?:```|~~~)/;

/** Of a block that is still written, only the end is on the screen; more of it is not drawn with every frame. */
const LIVE_CHARACTERS = 4_000;

/**
 * A message while it is written: rows of finished blocks, which are final, and rows of the block that is still written.
 * Adding text costs nothing; it is read when rows are taken, once a frame. Code is final line by line.
 */
export class StreamedMarkdown {
  readonly #stream = new MarkdownStream();
  #text = "";
  #isEnded = false;
  /** Number of blocks, and of lines of the code after them, that were taken. */
  #blocks = 0;
  #codeLines = 0;

  /** Adds a piece that starts at this offset; text that was added before is skipped. */
  add(piece: string, offset: number): void {
    // The whole text so far, which is how a thread keeps it, needs no second copy.
    const isWhole = offset === 0 && piece.length >= this.#text.length;
    this.#text = isWhole ? piece : appendAt(this.#text, piece, offset);
  }

  /** Ends the message: all of it is final now. */
  end(): void {
    this.#isEnded = true;
  }

  /** Returns the rows that became final since the last call. */
  takeRows(look: RenderOptions): Line[] {
    this.#stream.update(this.#text);
    const blocks = this.#isEnded ? this.#stream.blocks : this.#stream.frozen;
    const rows: Line[] = [];
    for (const block of blocks.slice(this.#blocks)) {
      if (this.#blocks > 0 && this.#codeLines === 0) rows.push([]);
      if (this.#codeLines > 0 && block.kind === "code")
        rows.push(...codeRows(block, look.columns, this.#codeLines));
      else rows.push(...blockRows(block, look, look.columns));
      this.#blocks += 1;
      this.#codeLines = 0;
    }
    return this.#isEnded ? rows : [...rows, ...this.#codeSoFar(look)];
  }

  /** The rows of what is still written. */
  openRows(look: RenderOptions): Line[] {
    this.#stream.update(this.#text);
    if (this.#isEnded) return [];
    const { openText } = this.#stream;
    const isLong = openText.length > LIVE_CHARACTERS && !FENCED.test(openText);
    if (isLong) return markdownRows(parseMarkdown(lastLines(openText)), look, look.columns);
    const [first, ...rest] = this.#stream.open;
    if (first?.kind !== "code" || this.#codeLines === 0) {
      const rows = markdownRows(this.#stream.open, look, look.columns);
      return this.#blocks > 0 && rows.length > 0 ? [[], ...rows] : rows;
    }
    const code = codeRows(first, look.columns, this.#codeLines);
    return rest.length === 0 ? code : [...code, [], ...markdownRows(rest, look, look.columns)];
  }

  /** The lines of open code that are complete. */
  #codeSoFar(look: RenderOptions): Line[] {
    if (!FENCED.test(this.#stream.openText)) return [];
    const [first, ...rest] = this.#stream.open;
    if (first?.kind !== "code" || rest.length > 0) return [];
    const lines = first.text.split("\n");
    // The last line may still grow, or turn out to be the end of the code.
    const complete = lines.length - 1;
    if (complete <= this.#codeLines) return [];
    const text = lines.slice(0, complete).join("\n");
    const rows = codeRows({ ...first, text }, look.columns, this.#codeLines);
    const gap = this.#blocks > 0 && this.#codeLines === 0 ? [[]] : [];
    this.#codeLines = complete;
    return [...gap, ...rows];
  }
}

/** The last lines of a text, a few thousand characters of them. */
function lastLines(text: string): string {
  const from = text.length - LIVE_CHARACTERS;
  const newline = text.indexOf("\n", from);
  return text.slice(newline === -1 ? from : newline + 1);
}
