import { LIMITS, type UserInput } from "@flint/protocol";
import type { CommandId } from "@flint/view/commands";
import { type Line, span } from "../draw/line.ts";
import { marksFor, type RenderOptions } from "../draw/render-options.ts";
import { COMPOSER_MARGIN, emptyComposer } from "../first-frame/starting-rows.ts";
import type { Content } from "../input/editor/content.ts";
import { Editor } from "../input/editor/editor.ts";
import type { TextRow } from "../input/editor/layout.ts";
import type { CursorPosition } from "../terminal/inline-screen.ts";

/** The rows of a drawn composer and where its cursor is among them. */
export interface DrawnComposer {
  readonly rows: readonly Line[];
  readonly cursor: CursorPosition;
}

/** The text that the user is writing. */
export class Composer {
  readonly #editor = new Editor();
  #columns = 80;

  get isEmpty(): boolean {
    return this.#editor.isEmpty;
  }

  get text(): string {
    return this.#editor.text;
  }

  /** Reports whether nothing more can be written: a prompt has a largest size. */
  get isFull(): boolean {
    return this.#editor.text.length >= LIMITS.prompt;
  }

  get input(): UserInput[] {
    return this.#editor.input;
  }

  /** Everything in it, to be kept and set again. */
  get content(): Content {
    return this.#editor.content;
  }

  /** The text as it stands, for completion. */
  get editor(): Editor {
    return this.#editor;
  }

  type(text: string): void {
    this.#editor.insert(text);
  }

  paste(text: string): void {
    this.#editor.paste(text);
  }

  setText(text: string): void {
    this.#editor.setText(text);
  }

  setContent(content: Content): void {
    this.#editor.setContent(content);
  }

  clear(): void {
    this.#editor.reset();
  }

  /** Carries out an editing command. False if it is none, or has nothing to do. */
  command(id: CommandId): boolean {
    const editor = this.#editor;
    switch (id) {
      case "newLine":
        return done(editor.insert("\n"));
      case "cursorLeft":
        return done(editor.move("left"));
      case "cursorRight":
        return done(editor.move("right"));
      case "wordLeft":
        return done(editor.move("wordLeft"));
      case "wordRight":
        return done(editor.move("wordRight"));
      case "lineStart":
        return done(editor.move("lineStart"));
      case "lineEnd":
        return done(editor.move("lineEnd"));
      case "deleteLeft":
        return done(editor.delete("left"));
      case "deleteRight":
        return done(editor.delete("right"));
      case "deleteWordLeft":
        return done(editor.cut("wordLeft"));
      case "deleteWordRight":
        return done(editor.cut("wordRight"));
      case "cutToStart":
        return done(editor.cut("lineStart"));
      case "cutToEnd":
        return done(editor.cut("lineEnd"));
      case "paste":
        return done(editor.yank());
      case "pasteEarlier":
        return done(editor.yankEarlier());
      case "undo":
        return done(editor.undo());
      case "redo":
        return done(editor.redo());
      case "unfoldPaste":
        return done(editor.unfold());
      case "historyBack":
        return editor.moveRow("up", this.#columns);
      case "historyForward":
        return editor.moveRow("down", this.#columns);
      default:
        return false;
    }
  }

  /** Draws it with a mark in front; at most this many rows, those around the cursor. */
  draw(look: RenderOptions, most: number, hint: string): DrawnComposer {
    const { user } = marksFor(look.unicode);
    this.#columns = Math.max(4, look.columns - COMPOSER_MARGIN - 1);
    const { rows, cursor } = this.#editor.layout(this.#columns);
    const from = Math.max(0, Math.min(cursor.row - most + 1, rows.length - most));
    const shown = rows.slice(from, from + most).map((row, index): Line => {
      const mark = from + index === 0 ? `${user} ` : "  ";
      return [span(mark, "cyan"), ...spansOf(row)];
    });
    if (this.isEmpty) shown[0] = emptyComposer(hint, look);
    return { rows: shown, cursor: { row: cursor.row - from, column: cursor.column + COMPOSER_MARGIN } };
  }
}

function spansOf(row: TextRow): Line {
  const styles = { text: undefined, attachment: "cyan", selected: "inverse" } as const;
  return row.map(({ text, kind }) => span(text, styles[kind]));
}

function done(_result: unknown): true {
  return true;
}
