import { continues } from "@flint/protocol";
import type { Block } from "../row.ts";
import type { MarkdownBlock } from "./blocks.ts";
import { lexBlocks } from "./lex.ts";
import { Cuts, segmentsOf } from "./segments.ts";

/** The blocks of a text. */
export function parseMarkdown(text: string): readonly MarkdownBlock[] {
  return segmentsOf(text).flatMap(({ start, end }) => lexBlocks(text.slice(start, end)));
}

const parsed = new WeakMap<Block, readonly MarkdownBlock[]>();

/** The blocks of a block of a row, lexed once. */
export function markdownOf(block: Extract<Block, { kind: "markdown" }>): readonly MarkdownBlock[] {
  const known = parsed.get(block);
  if (known !== undefined) return known;
  const blocks = parseMarkdown(block.text);
  parsed.set(block, blocks);
  return blocks;
}

/**
 * Markdown that grows at its end. Blocks that can no longer change are lexed once and stay the same objects; only the end
 * is lexed again. In the end it has the same blocks as `parseMarkdown`, however the text came.
 */
export class MarkdownStream {
  #text = "";
  #cuts = new Cuts();
  /** Number of frozen segments of the text, and the end of the last of them. */
  #segments = 0;
  #done = 0;
  #frozen: MarkdownBlock[] = [];
  #open: readonly MarkdownBlock[] | undefined = [];

  /** Sets the text so far. A text that does not continue the last one starts again. */
  update(text: string): void {
    if (text === this.#text) return;
    if (!continues(text, this.#text)) {
      this.#cuts = new Cuts();
      this.#segments = 0;
      this.#done = 0;
      this.#frozen = [];
    }
    this.#text = text;
    this.#cuts.lines(text);
    for (const { start, end } of this.#cuts.final.slice(this.#segments)) {
      this.#frozen.push(...lexBlocks(text.slice(start, end)));
      this.#segments += 1;
      this.#done = end;
    }
    this.#open = undefined;
  }

  /** The blocks that can no longer change; the array only grows. */
  get frozen(): readonly MarkdownBlock[] {
    return this.#frozen;
  }

  /** The blocks that may still change, lexed when they are needed. */
  get open(): readonly MarkdownBlock[] {
    this.#open ??= parseMarkdown(this.openText);
    return this.#open;
  }

  /** The text of the blocks that may still change. */
  get openText(): string {
    return this.#text.slice(this.#done);
  }

  /** All blocks so far. */
  get blocks(): readonly MarkdownBlock[] {
    return [...this.#frozen, ...this.open];
  }
}
