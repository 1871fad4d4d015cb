import { escapeControls } from "@flint/view";
import type { CommandId, KeyContext } from "@flint/view/commands";
import { cutLine, type Line, span, textOf, wrapLine } from "../draw/line.ts";
import { marksFor, type RenderOptions } from "../draw/render-options.ts";
import type { Page } from "../session/context.ts";
import { InlineInput } from "./inline-input.ts";
import { closeHint, hintsIn } from "./key-name.ts";

/** The content of a pager. */
export interface PagerContent {
  readonly title: string;
  /** All lines at a width; called again whenever something has changed. */
  lines(look: RenderOptions): readonly Line[];
  /** Further keys, with what they do. Gives whether the command was one of them, or `close` if the pager is over. */
  command?(id: CommandId, pager: Pager): boolean | "close";
  /** Hint on the keys that only this content has. */
  readonly hint?: string | ((look: RenderOptions) => string) | undefined;
  /** True if it begins at its end, like a transcript. */
  readonly fromEnd?: boolean | undefined;
}

/** A search in a pager. */
interface Find {
  readonly field: InlineInput;
  isTyping: boolean;
}

/** Text on the whole screen, to scroll and search in. It stays where the user reads, also when lines are added. */
export class Pager implements Page {
  readonly #content: PagerContent;
  #top = 0;
  #followsEnd: boolean;
  /** The search that is being typed; afterwards it is only remembered. */
  #find: Find | undefined;
  #match: number | undefined;
  #lines: readonly Line[] = [];
  #height = 1;
  #hasShownEnd = false;

  constructor(content: PagerContent) {
    this.#content = content;
    this.#followsEnd = content.fromEnd === true;
  }

  /** The keys of a pager are letters: while text is searched for, they are typed. */
  get place(): KeyContext {
    return this.#find?.isTyping === true ? "menu" : "pager";
  }

  /** Reports whether the last row has been shown. */
  get hasShownEnd(): boolean {
    return this.#hasShownEnd;
  }

  /** The first row that is shown. */
  get top(): number {
    return this.#top;
  }

  draw(look: RenderOptions): ReturnType<Page["draw"]> {
    this.#lines = this.#content.lines(look);
    this.#height = Math.max(1, look.rows - 2);
    if (this.#followsEnd) this.#top = this.#lastTop;
    this.#top = Math.max(0, Math.min(this.#top, this.#lastTop));
    this.#hasShownEnd ||= this.#top === this.#lastTop;
    const shown = this.#lines.slice(this.#top, this.#top + this.#height).map((line) => this.#marked(line));
    const filled = [...shown, ...Array.from({ length: this.#height - shown.length }, (): Line => [])];
    const above = [this.#titleRow(look), ...filled];
    if (this.#find?.isTyping !== true) return { rows: [...above, this.#statusRow(look)] };
    const { row, column } = this.#find.field.draw(look);
    return { rows: [...above, row], cursor: { row: above.length, column } };
  }

  command(id: CommandId): boolean | "close" {
    if (this.#find?.isTyping === true) return this.#findCommand(this.#find, id);
    switch (id) {
      case "scrollUp":
        return this.#scroll(-1);
      case "scrollDown":
        return this.#scroll(1);
      case "pageUp":
        return this.#scroll(-this.#height);
      case "pageDown":
        return this.#scroll(this.#height);
      case "toTop":
        return this.#scroll(-this.#lines.length);
      case "toBottom":
        return this.#scroll(this.#lines.length);
      case "find":
        this.#find = { field: new InlineInput("Find:"), isTyping: true };
        this.#match = undefined;
        return true;
      case "findNext":
        return this.#next(1);
      case "findPrevious":
        return this.#next(-1);
      case "closePager":
        return "close";
      default:
        return this.#content.command?.(id, this) ?? false;
    }
  }

  scroll(by: 1 | -1): void {
    this.#scroll(by);
  }

  type(text: string): void {
    if (this.#find?.isTyping === true) this.#find.field.type(text);
  }

  /** The range of shown rows: from the first one up to the one after the last. */
  get shown(): { readonly from: number; readonly to: number } {
    return { from: this.#top, to: this.#top + this.#height };
  }

  /** Scrolls to a row if it is not shown. */
  reveal(row: number): void {
    const { from, to } = this.shown;
    if (row < from) this.#scroll(row - from);
    else if (row >= to) this.#scroll(row - to + 1);
    // The selection stays where it is when lines are added.
    this.#followsEnd = false;
  }

  /** Shows a row at the top. */
  goTo(row: number): void {
    this.#scroll(row - this.#top);
  }

  get #lastTop(): number {
    return Math.max(0, this.#lines.length - this.#height);
  }

  #scroll(by: number): true {
    this.#top = Math.max(0, Math.min(this.#top + by, this.#lastTop));
    this.#followsEnd = this.#content.fromEnd === true && this.#top === this.#lastTop;
    return true;
  }

  #findCommand(find: Find, id: CommandId): boolean {
    const done = find.field.command(id);
    if (done === "cancel") this.#find = undefined;
    if (done === "accept") {
      find.isTyping = false;
      this.#next(1);
    }
    return done !== false;
  }

  get #query(): string {
    return this.#find?.field.text.toLowerCase() ?? "";
  }

  #next(by: 1 | -1): true {
    const query = this.#query;
    if (query === "") return true;
    const count = this.#lines.length;
    const from = this.#match ?? this.#top - (by === 1 ? 1 : 0);
    for (let step = 1; step <= count; step += 1) {
      const at = (((from + by * step) % count) + count) % count;
      const text = textOf(this.#lines[at] ?? []).toLowerCase();
      if (text.includes(query)) {
        this.#match = at;
        return this.#scroll(at - this.#top);
      }
    }
    return true;
  }

  #marked(line: Line): Line {
    const query = this.#query;
    if (query === "" || !textOf(line).toLowerCase().includes(query)) return line;
    return line.map(({ text }) => span(text, "yellow"));
  }

  #titleRow(look: RenderOptions): Line {
    return cutLine(
      [span(escapeControls(this.#content.title), "bold")],
      look.columns - 1,
      marksFor(look.unicode).more,
    );
  }

  #statusRow(look: RenderOptions): Line {
    const { between, more } = marksFor(look.unicode);
    const last = Math.min(this.#top + this.#height, this.#lines.length);
    const found =
      this.#match === undefined ? [] : [`match: ${textOf(this.#lines[this.#match] ?? []).trim()}`];
    const { hint: given } = this.#content;
    const hint = typeof given === "function" ? given(look) : given;
    const parts = [
      ...(look.isPlain === true ? found : [`${last} of ${this.#lines.length} lines`]),
      ...hintsIn(look, [["find", "find"]]),
      ...(hint === undefined || hint === "" ? [] : [hint]),
      ...closeHint(look, "closePager"),
    ];
    return cutLine([span(parts.join(between), "dim")], look.columns - 1, more);
  }
}

/** A page of fixed text. What does not fit on a row continues below, indented. */
export function textPage(title: string, lines: readonly Line[], indent = 0): Pager {
  const wrapped = (look: RenderOptions) => lines.flatMap((line) => wrapLine(line, look.columns - 1, indent));
  return new Pager({ title, lines: wrapped });
}
