import { escapeControls } from "@flint/view";
import type { CommandId } from "@flint/view/commands";
import { type Line, span, textWidth } from "../draw/line.ts";
import type { RenderOptions } from "../draw/render-options.ts";
import { COMPOSER_MARGIN } from "../first-frame/starting-rows.ts";
import { Composer } from "../session/composer.ts";

/** A longer text finds nothing that a shorter one does not, and costs time with every key. */
const MOST = 200;

/**
 * One line of a page that the user types into: a search or a name. It is edited like a prompt. While it is open, the page's
 * place is `menu`: Enter takes it, Escape or Ctrl-C closes it.
 */
export class InlineInput {
  readonly #label: string;
  readonly #text = new Composer();

  constructor(label: string, text = "") {
    this.#label = label;
    this.#text.setText(text);
  }

  get text(): string {
    return this.#text.text;
  }

  type(text: string): void {
    const room = MOST - this.text.length;
    if (room > 0) this.#text.type(text.replaceAll("\n", " ").slice(0, room));
  }

  /** Carries out a command: `accept` and `cancel` end it, and false is not one of its commands. */
  command(id: CommandId): boolean | "accept" | "cancel" {
    if (id === "menuAccept") return "accept";
    if (id === "menuCancel") return "cancel";
    return id === "newLine" || this.#text.command(id);
  }

  /** Its row, and the column of the cursor in it. */
  draw(look: RenderOptions): { readonly row: Line; readonly column: number } {
    const label = `${this.#label} `;
    const inner = { ...look, columns: look.columns - textWidth(label) };
    const { rows, cursor } = this.#text.draw(inner, 1, "");
    const [, ...typed] = this.#text.isEmpty ? [] : (rows[0] ?? []);
    const shown = typed.map(({ text, style }) => span(escapeControls(text), style));
    return {
      row: [span(label, "cyan"), ...shown],
      column: textWidth(label) + cursor.column - COMPOSER_MARGIN,
    };
  }
}
