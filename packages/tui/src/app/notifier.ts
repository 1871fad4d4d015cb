import type { ThreadState } from "@flint/protocol";
import { escapeControls } from "@flint/view";
import { BELL, desktopNotice } from "../terminal/modes.ts";

/** Calls the user back to a terminal without the focus: once for each thread that waits, and once when a turn has ended. */
export class Notifier {
  readonly #write: (text: string) => void;
  #isFocused = true;
  #waiting = false;
  #running = false;
  #threadId: string | undefined;
  #others: readonly string[] = [];

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** The terminal got or lost the focus. Terminals that do not say so count as focused. */
  focus(isFocused: boolean): void {
    this.#isFocused = isFocused;
  }

  /** Looks at the thread that is shown, and at the ids of others that wait. */
  look(state: ThreadState | undefined, others: readonly string[]): void {
    const isNew = others.some((id) => !this.#others.includes(id) && id !== this.#threadId);
    if (isNew) this.#call("Flint is waiting for you in another thread");
    this.#others = others;
    if (state?.thread.id !== this.#threadId) this.#running = false;
    this.#threadId = state?.thread.id;
    this.#lookAt(state);
  }

  #lookAt(state: ThreadState | undefined): void {
    const isWaiting = state !== undefined && state.approvals.length + state.questions.length > 0;
    const isRunning = state?.activeTurnId !== undefined;
    const name = escapeControls(state?.thread.name ?? state?.thread.preview ?? "")
      .replaceAll("\n", " ")
      .slice(0, 60);
    if (isWaiting && !this.#waiting) this.#call(`Flint is waiting for you: ${name}`);
    if (!isRunning && this.#running) this.#call(`Flint is done: ${name}`);
    this.#waiting = isWaiting;
    this.#running = isRunning;
  }

  #call(text: string): void {
    if (!this.#isFocused) this.#write(`${BELL}${desktopNotice(text)}`);
  }
}
