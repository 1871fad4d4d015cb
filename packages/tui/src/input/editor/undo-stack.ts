import type { TextState } from "./text.ts";

/** Changes of the same kind right after each other are undone together. */
export type ChangeKind = "typing" | "deleting" | "other";

const MAX_STEPS = 200;

/** The text before each change. Typing is undone by words, deleting by runs, everything else change by change. */
export class UndoStack {
  #past: TextState[] = [];
  #future: TextState[] = [];
  #kind: ChangeKind = "other";

  /** Notes the text before a change. */
  note(before: TextState, kind: ChangeKind): void {
    if (kind === "other" || kind !== this.#kind) this.#past = [...this.#past, before].slice(-MAX_STEPS);
    this.#future = [];
    this.#kind = kind;
  }

  /** Ends the group of changes, so that the next one is undone on its own. */
  endGroup(): void {
    this.#kind = "other";
  }

  /** Returns the text before the last change; undefined if nothing is left to undo. */
  undo(now: TextState): TextState | undefined {
    const before = this.#past.pop();
    if (before === undefined) return undefined;
    this.#future.push(now);
    this.#kind = "other";
    return before;
  }

  /** Returns the text before the last undo; undefined if there was none since the last change. */
  redo(now: TextState): TextState | undefined {
    const after = this.#future.pop();
    if (after === undefined) return undefined;
    this.#past.push(now);
    this.#kind = "other";
    return after;
  }

  /** Forgets everything. */
  clear(): void {
    this.#past = [];
    this.#future = [];
    this.#kind = "other";
  }
}
