import { escapeControls } from "@flint/view";
import type { CommandId, KeyPlace } from "@flint/view/commands";
import { cutLine, type Line, span, textOf, wrapLine } from "../draw/line.ts";
import { type Look, marksFor } from "../draw/look.ts";
import type { Page } from "../session/context.ts";

/** A longer text finds nothing that a shorter one does not, and costs time with every key. */
const MAX_QUERY = 200;

/** What a pager shows. */
export interface PagerContent {
  readonly title: string;
  /** All lines at a width; called again whenever something has changed. */
  lines(look: Look): readonly Line[];
  /** Further keys, with what they do. Gives whether the command was one of them, or `close` if the pager is over. */
  command?(id: CommandId, pager: Pager): boolean | "close";
  /** What the keys do that only this content has. */
  readonly hint?: string | undefined;
  /** Whether it begins at its end, as a transcript does. */
  readonly fromEnd?: boolean | undefined;
}

/** Text on the whole screen, to scroll and search in. It stays where the user reads, also when lines are added. */
export class Pager implements Page {
  readonly place: KeyPlace = "pager";
  readonly #content: PagerContent;
  #top = 0;
  #followsEnd: boolean;
  #find: { query: string; isTyping: boolean } | undefined;
  #lines: readonly Line[] = [];
  #height = 1;

  constructor(content: PagerContent) {
    this.#content = content;
    this.#followsEnd = content.fromEnd === true;
  }

  /** The first row that is shown. */
  get top(): number {
    return this.#top;
  }

  draw(look: Look): { rows: Line[] } {
    this.#lines = this.#content.lines(look);
    this.#height = Math.max(1, look.rows - 2);
    if (this.#followsEnd) this.#top = this.#lastTop;
    this.#top = Math.max(0, Math.min(this.#top, this.#lastTop));
    const shown = this.#lines.slice(this.#top, this.#top + this.#height).map((line) => this.#marked(line));
    const filled = [...shown, ...Array.from({ length: this.#height - shown.length }, (): Line => [])];
    return { rows: [this.#titleRow(look), ...filled, this.#statusRow(look)] };
  }

  command(id: CommandId): boolean | "close" {
    if (this.#find?.isTyping === true) return this.#findCommand(id);
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
        this.#find = { query: "", isTyping: true };
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

  type(text: string): void {
    if (this.#find?.isTyping === true) this.#find.query = `${this.#find.query}${text}`.slice(0, MAX_QUERY);
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

  /** The keys of a pager are letters: while text is searched for, they are typed. */
  #findCommand(id: CommandId): boolean {
    const find = this.#find;
    if (find === undefined) return false;
    if (id === "toggleFold") {
      find.isTyping = false;
      return this.#next(1);
    }
    if (id === "closePager") this.#find = undefined;
    return id === "closePager";
  }

  #next(by: 1 | -1): true {
    const query = this.#find?.query.toLowerCase() ?? "";
    if (query === "") return true;
    const count = this.#lines.length;
    for (let step = 1; step <= count; step += 1) {
      const at = (((this.#top + by * step) % count) + count) % count;
      if (
        textOf(this.#lines[at] ?? [])
          .toLowerCase()
          .includes(query)
      ) {
        this.#scroll(at - this.#top);
        return true;
      }
    }
    return true;
  }

  #marked(line: Line): Line {
    const query = this.#find?.query.toLowerCase() ?? "";
    if (query === "" || !textOf(line).toLowerCase().includes(query)) return line;
    return line.map(({ text }) => span(text, "yellow"));
  }

  #titleRow(look: Look): Line {
    return cutLine(
      [span(escapeControls(this.#content.title), "bold")],
      look.columns - 1,
      marksFor(look.unicode).more,
    );
  }

  #statusRow(look: Look): Line {
    const { between, more } = marksFor(look.unicode);
    const find = this.#find;
    if (find?.isTyping === true) return [span("Find: ", "cyan"), span(find.query)];
    const last = Math.min(this.#top + this.#height, this.#lines.length);
    const parts = [
      ...(look.isPlain === true ? [] : [`${last} of ${this.#lines.length} lines`]),
      "/ find",
      ...(this.#content.hint === undefined ? [] : [this.#content.hint]),
      "q close",
    ];
    return cutLine([span(parts.join(between), "dim")], look.columns - 1, more);
  }
}

/** A page of fixed text. What does not fit on a row goes on below, indented. */
export function textPage(title: string, lines: readonly Line[], indent = 0): Pager {
  const wrapped = (look: Look) => lines.flatMap((line) => wrapLine(line, look.columns - 1, indent));
  return new Pager({ title, lines: wrapped });
}
