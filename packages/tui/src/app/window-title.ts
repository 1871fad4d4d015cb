import type { ThreadState } from "@flint/protocol";
import { escapeControls } from "@flint/view";
import { marksFor, type RenderOptions } from "../draw/render-options.ts";
import { FRAME, windowTitle } from "../terminal/modes.ts";

const MAX_TITLE = 60;

/** The title of the window: which thread it is, and whether it works or waits. It is written only when it changes. */
export class WindowTitle {
  readonly #write: (text: string) => void;
  #shown = "";

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** Shows a thread. */
  look(state: ThreadState | undefined, look: RenderOptions): void {
    const title = titleOf(state, look);
    if (title === this.#shown) return;
    this.#shown = title;
    this.#write(`${FRAME.begin}${windowTitle(title)}${FRAME.end}`);
  }

  /** Writes it again with the next look, because another program had the terminal. */
  forget(): void {
    this.#shown = "";
  }
}

function titleOf(state: ThreadState | undefined, look: RenderOptions): string {
  const marks = marksFor(look.unicode);
  if (state === undefined) return "Flint";
  const isWaiting = state.approvals.length + state.questions.length > 0;
  const mark = isWaiting ? `${marks.warning} ` : state.activeTurnId === undefined ? "" : `${marks.running} `;
  const name = escapeControls(state.thread.name ?? state.thread.preview).replaceAll("\n", " ");
  return `${mark}${name === "" ? "Flint" : name.slice(0, MAX_TITLE)}`;
}
