import type { CommandId } from "@flint/view/commands";
import { cutLine, type Line, span, textOf, textWidth, wrapLine } from "../draw/line.ts";
import { marksFor, type RenderOptions } from "../draw/render-options.ts";
import { hintsIn } from "../pages/key-name.ts";

/** A longer text finds nothing that a shorter one does not, and costs time with every key. */
const MAX_QUERY = 200;

/** The most rows that a menu has for what the selected one says. */
const ABOUT_ROWS = 4;

/** One row of a menu. */
export interface MenuItem {
  readonly label: string;
  /** Its meaning, shown behind it. */
  readonly detail?: string | undefined;
  /** True if it is the value in force. */
  readonly isCurrent?: boolean | undefined;
  readonly choose: () => void;
}

/** The content of a menu and its extra keys. */
export interface MenuOptions {
  readonly title: string;
  readonly items: readonly MenuItem[];
  /** The keys beyond those of every menu, by character, with what they do to the selected row. */
  readonly keys?: readonly MenuKey[] | undefined;
  readonly cancel?: (() => void) | undefined;
}

/** A key of a menu. */
export interface MenuKey {
  readonly key: string;
  readonly title: string;
  readonly press: (index: number) => void;
}

/** The parts of a menu's look that depend on where it is shown. */
export interface MenuStyle {
  /** True if rows have numbers, to choose them by. */
  readonly isNumbered?: boolean | undefined;
  /** The key that closes it now. */
  readonly closeKey?: (() => string) | undefined;
}

/** A list to choose from, narrowed down by typing. */
export class Menu {
  readonly #options: MenuOptions;
  /** The number that is typed to select a row, where rows have numbers. */
  readonly #number: TypedNumber | undefined;
  readonly #closeKey: () => string;
  #query = "";
  #selected: number;

  constructor(options: MenuOptions, selected?: number, { isNumbered, closeKey }: MenuStyle = {}) {
    this.#options = options;
    this.#number = isNumbered === true ? new TypedNumber() : undefined;
    this.#closeKey = closeKey ?? (() => "Esc");
    this.#selected =
      selected ??
      Math.max(
        0,
        options.items.findIndex(({ isCurrent }) => isCurrent === true),
      );
  }

  /** Carries out a command of menus. Gives true once the menu is over. */
  command(id: CommandId): boolean {
    const shown = this.#shown();
    switch (id) {
      case "menuUp":
        this.#selected = (this.#selected - 1 + shown.length) % Math.max(1, shown.length);
        return false;
      case "menuDown":
        this.#selected = (this.#selected + 1) % Math.max(1, shown.length);
        return false;
      case "menuAccept":
        shown[this.#selected]?.choose();
        return shown.length > 0;
      case "menuCancel":
        this.#options.cancel?.();
        return true;
      default:
        return false;
    }
  }

  /** The typed text: the filter, or the number of a row. */
  get typed(): string {
    return this.#query === "" ? (this.#number?.text ?? "") : this.#query;
  }

  /** Types into the filter, or presses a key of this menu. */
  type(text: string): void {
    const row = this.#query === "" ? this.#number?.type(text, this.#shown().length) : undefined;
    if (row !== undefined) {
      this.#selected = row;
      return;
    }
    const own = this.#options.keys?.find(({ key }) => key === text);
    if (own !== undefined) {
      const item = this.#shown()[this.#selected];
      if (item !== undefined) own.press(this.#options.items.indexOf(item));
      return;
    }
    // A menu with keys of its own is not filtered.
    if (this.#options.keys !== undefined) return;
    this.#query = `${this.#query}${text}`.slice(0, MAX_QUERY);
    this.#selected = 0;
  }

  /** Takes the last character of the filter back. */
  erase(): void {
    this.#query = this.#query.slice(0, -1);
    this.#selected = 0;
  }

  /** Its rows; at most this many. */
  draw(look: RenderOptions, most: number): Line[] {
    const marks = marksFor(look.unicode);
    const shown = this.#shown();
    const about = this.#aboutRows(shown[this.#selected], look);
    const room = Math.max(1, most - 2 - about.length);
    const from = Math.max(0, Math.min(this.#selected - Math.floor(room / 2), shown.length - room));
    const rows = shown.slice(from, from + room).map((item, index) => this.#row(item, from + index, look));
    const found = shown.length === 0 ? [[span("  Nothing matches.", "dim" as const)]] : [];
    const isRead = look.isPlain === true || this.#query === "";
    const filter = isRead ? [] : [span(`  ${this.#query}`, "cyan" as const)];
    const head: Line = [span(this.#options.title, "bold"), ...filter];
    const lines = [head, ...rows, ...found, ...about, this.#hint(shown.length, look)];
    return lines.map((line) => cutLine(line, look.columns - 1, marks.more));
  }

  /** Shows the detail of the selected row, if it is too long for the row. */
  #aboutRows(selected: MenuItem | undefined, look: RenderOptions): Line[] {
    if (selected?.detail === undefined) return [];
    const isCut = textWidth(textOf(this.#row(selected, this.#selected, look))) > look.columns - 1;
    if (!isCut) return [];
    return wrapLine([span(`  ${selected.detail}`, "dim")], look.columns - 1, 2).slice(0, ABOUT_ROWS);
  }

  #row({ label, detail, isCurrent }: MenuItem, index: number, look: RenderOptions): Line {
    const marks = marksFor(look.unicode);
    const isSelected = index === this.#selected;
    const mark = span(isSelected ? `${marks.current} ` : "  ", "cyan");
    const number = this.#number === undefined ? "" : `${index + 1}. `;
    const value = span(`${number}${label}`, isSelected ? "bold" : undefined);
    const done = look.isPlain === true ? " (current)" : ` ${marks.done}`;
    const now = isCurrent === true ? [span(done, "green" as const)] : [];
    return [mark, value, ...now, ...(detail === undefined ? [] : [span(`  ${detail}`, "dim" as const)])];
  }

  #hint(count: number, look: RenderOptions): Line {
    const { between } = marksFor(look.unicode);
    const own = this.#options.keys?.map(({ key, title }) => `${key} ${title}`) ?? [];
    const keys = [...hintsIn(look, [["menuAccept", "to choose"]]), ...own];
    const filter = own.length === 0 ? ["type to filter"] : [];
    const numbers = ["type a number or use the arrow keys"];
    const position =
      this.#number === undefined ? [`${Math.min(this.#selected + 1, count)} of ${count}`] : numbers;
    const close = `${this.#closeKey()} to close`;
    // How to get out of it is said on the narrowest screen, too.
    const hints = [
      [...position, ...keys, ...filter, close],
      [...position, ...keys, close],
      [close, ...keys],
    ];
    const texts = hints.map((parts) => parts.join(between));
    const fitting = texts.find((text) => textWidth(text) < look.columns) ?? texts.at(-1) ?? close;
    return [span(fitting, "dim")];
  }

  /** Every word of the filter has to occur. */
  #shown(): readonly MenuItem[] {
    const words = this.#query.toLowerCase().split(/\s+/);
    return this.#options.items.filter(({ label, detail = "" }) => {
      const text = `${label} ${detail}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }
}

/** The number of a row, typed digit by digit. */
export class TypedNumber {
  #digits = "";

  /** The digits so far. */
  get text(): string {
    return this.#digits;
  }

  /** Types a digit. Gives the row, counted from 0; undefined if it is not a digit, or there is no such row. */
  type(text: string, count: number): number | undefined {
    const isDigit = /^\d$/.test(text);
    const longer = this.#digits + text;
    this.#digits = !isDigit ? "" : Number(longer) <= count ? longer : text;
    const row = Number(this.#digits) - 1;
    return isDigit && row >= 0 && row < count ? row : undefined;
  }
}
