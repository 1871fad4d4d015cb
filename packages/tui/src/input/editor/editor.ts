import { LIMITS, type UserInput } from "@flint/protocol";
import { Attachments, isFolded } from "./attachments.ts";
import type { AttachedImage, Content } from "./content.ts";
import { KillRing } from "./kill-ring.ts";
import { type TextLayout, TextWrapper } from "./layout.ts";
import { MOTIONS, type Motion } from "./motions.ts";
import {
  cleaned,
  EMPTY,
  isEmptyRange,
  lineAt,
  type Range,
  rangeOf,
  replaceRange,
  type TextPosition,
  type TextState,
  textIn,
} from "./text.ts";
import { type ChangeKind, UndoStack } from "./undo-stack.ts";

/** A text longer than this is folded, since every character of it would be laid out on each key. */
const MAX_OPEN = 100_000;

/** More at once was not typed. */
const MAX_TYPED = 16;

/** The kind of the last action, for those that continue it. */
type LastAction = "cut" | "yank" | "other";

/**
 * The text of a composer: several lines, a cursor between graphemes, undo, a kill ring, a selection, and attachments that
 * are one character each. No I/O and no drawing; `layout` says what to draw.
 */
export class Editor {
  #state: TextState = EMPTY;
  readonly #undo = new UndoStack();
  readonly #ring = new KillRing();
  readonly #attachments = new Attachments();
  readonly #wrapper = new TextWrapper((atom) => this.#attachments.label(atom, this.#raw));
  #lastAction: LastAction = "other";
  #yanked: Range | undefined;
  #goal: number | undefined;

  /** Reports whether there is nothing in it. */
  get isEmpty(): boolean {
    return this.#state.lines.length === 1 && this.#state.lines[0] === "";
  }

  /** The text with everything expanded, as it is sent, stored and edited elsewhere. */
  get text(): string {
    return this.#attachments.expand(this.#raw);
  }

  /** The input of a turn; empty if there is nothing to send. */
  get input(): UserInput[] {
    return this.#attachments.input(this.#raw);
  }

  /** The line of the cursor up to the cursor, for completion; an attachment in it is one character. */
  get beforeCursor(): string {
    const { lines, cursor } = this.#state;
    return lineAt(lines, cursor.line).slice(0, cursor.at);
  }

  /** The line of the cursor from the cursor on. */
  get afterCursor(): string {
    const { lines, cursor } = this.#state;
    return lineAt(lines, cursor.line).slice(cursor.at);
  }

  /** The number of the cursor's line, from 0. */
  get cursorLine(): number {
    return this.#state.cursor.line;
  }

  /** The selected text; undefined if there is none. */
  get selectedText(): string | undefined {
    const selection = this.#selection;
    return selection === undefined
      ? undefined
      : this.#attachments.expand(textIn(this.#state.lines, selection));
  }

  /** Lays the text out in a number of columns. */
  layout(columns: number): TextLayout {
    const { lines, cursor } = this.#state;
    return this.#wrapper.layout(lines, cursor, columns, this.#selection);
  }

  /** Everything in it, to be kept and set again. */
  get content(): Content {
    return this.#attachments.content(this.#raw);
  }

  /** Replaces everything, as a change that can be undone. The cursor is at the end. */
  setContent(content: Content): void {
    const pieces = content.map((piece) => {
      if (typeof piece !== "string") return this.#attachments.add(piece) ?? "";
      const clean = cleaned(piece, LIMITS.prompt);
      return this.#folded(clean, clean.length > MAX_OPEN);
    });
    const all = { from: EMPTY.cursor, to: EMPTY.cursor };
    this.#change(replaceRange(EMPTY.lines, all, pieces.join("")), "other");
  }

  /** Replaces everything with a text that has nothing attached. */
  setText(text: string): void {
    this.setContent([text]);
  }

  /** Replaces everything with what became of `text` in another editor. Images stay whose labels are still there. */
  setEdited(text: string): void {
    this.setContent(this.#attachments.edited(text, this.#raw));
  }

  /** Removes the text and what could be undone, after it was sent. */
  reset(): void {
    this.#state = EMPTY;
    this.#undo.clear();
    this.#ring.rewrite((cut) => this.#attachments.expand(cut));
    this.#attachments.clear();
    this.#ended();
  }

  /** Types text at the cursor, in place of the selection. */
  insert(text: string): void {
    const isTyped = this.#selection === undefined && text.length <= MAX_TYPED && text !== "\n";
    this.#insert(this.#clean(text), isTyped ? "typing" : "other");
    if (/\s$/.test(text)) this.#undo.endGroup();
  }

  /** Pastes text; a long one is folded into a label, which `unfold` opens. */
  paste(text: string): void {
    const clean = this.#clean(text);
    this.#insert(this.#folded(clean, isFolded(clean)), "other");
  }

  /** Attaches an image. False if there are too many attachments. */
  attachImage(image: AttachedImage): boolean {
    const atom = this.#attachments.add({ kind: "image", ...image });
    if (atom !== undefined) this.#insert(`${atom} `, "other");
    return atom !== undefined;
  }

  /** Opens the folded paste at the cursor, or else the last one before it. False if there is none that is small enough. */
  unfold(): boolean {
    const { lines, cursor } = this.#state;
    for (let to = MOTIONS.right(lines, cursor); ; ) {
      const from = MOTIONS.left(lines, to);
      if (isEmptyRange({ from, to })) return false;
      const attachment = this.#attachments.get(textIn(lines, { from, to }));
      if (attachment?.kind === "paste" && attachment.text.length <= MAX_OPEN) {
        this.#change(replaceRange(lines, { from, to }, attachment.text), "other");
        return true;
      }
      to = from;
    }
  }

  /** Moves the cursor; with `select`, what it passes is selected. */
  move(motion: Motion, select = false): void {
    this.#moveTo(this.#target(motion), select);
  }

  /** Moves up or down by a row of the screen, keeping the column. False at the first or last one. */
  moveRow(direction: "up" | "down", columns: number, select = false): boolean {
    const { lines, cursor } = this.#state;
    const by = direction === "up" ? -1 : 1;
    const move = this.#wrapper.vertical(lines, cursor, columns, by, this.#goal);
    if (move === undefined) return false;
    this.#moveTo(move.position, select);
    this.#goal = move.column;
    return true;
  }

  /** Deletes what is selected, else from the cursor to where a motion leads. */
  delete(motion: Motion): void {
    const range = this.#selection ?? rangeOf(this.#state.cursor, this.#target(motion));
    if (isEmptyRange(range)) return;
    this.#change(replaceRange(this.#state.lines, range, ""), "deleting");
  }

  /** Cuts what is selected, else to where a motion leads, into the kill ring. At the end of a line, that is its break. */
  cut(motion: Motion): void {
    const { lines, cursor } = this.#state;
    const selection = this.#selection;
    const isAtEnd = motion === "lineEnd" && this.afterCursor === "";
    const range = selection ?? rangeOf(cursor, this.#target(isAtEnd ? "right" : motion));
    if (isEmptyRange(range)) return;
    const continues = this.#lastAction === "cut" && selection === undefined;
    this.#ring.add(textIn(lines, range), continues ? (range.from === cursor ? "end" : "start") : undefined);
    this.#change(replaceRange(lines, range, ""), "other");
    this.#lastAction = "cut";
  }

  /** Inserts what was cut last. */
  yank(): void {
    const { latest } = this.#ring;
    if (latest === undefined) return;
    const from = (this.#selection ?? { from: this.#state.cursor }).from;
    this.#insert(this.#folded(latest, latest.length > MAX_OPEN), "other");
    this.#yanked = { from, to: this.#state.cursor };
    this.#lastAction = "yank";
  }

  /** Right after `yank`: replaces what it inserted with what was cut before that. */
  yankEarlier(): void {
    const yanked = this.#yanked;
    if (this.#lastAction !== "yank" || yanked === undefined) return;
    this.#ring.rotate();
    this.#change(replaceRange(this.#state.lines, yanked, this.#ring.latest ?? ""), "other");
    this.#yanked = { from: yanked.from, to: this.#state.cursor };
    this.#lastAction = "yank";
  }

  /** Swaps the graphemes around the cursor; at the end of a line the last two. */
  transpose(): void {
    const { lines, cursor } = this.#state;
    const isAtEnd = cursor.at === lineAt(lines, cursor.line).length;
    const to = isAtEnd ? cursor : MOTIONS.right(lines, cursor);
    const middle = MOTIONS.left(lines, to);
    const from = MOTIONS.left(lines, middle);
    if (from.line !== to.line || isEmptyRange({ from, to: middle })) return;
    const swapped = textIn(lines, { from: middle, to }) + textIn(lines, { from, to: middle });
    this.#change(replaceRange(lines, { from, to }, swapped), "other");
  }

  /** Replaces text around the cursor, counted in code units of its line, as a completion does. */
  replaceAround(before: number, after: number, text: string): void {
    const { lines, cursor } = this.#state;
    const range = {
      from: { line: cursor.line, at: Math.max(0, cursor.at - before) },
      to: { line: cursor.line, at: Math.min(lineAt(lines, cursor.line).length, cursor.at + after) },
    };
    this.#change(replaceRange(lines, range, this.#clean(text)), "other");
  }

  /** Undoes the last change. False if there is none. */
  undo(): boolean {
    return this.#restore(this.#undo.undo(this.#state));
  }

  /** Redoes what was undone last. False if there is nothing. */
  redo(): boolean {
    return this.#restore(this.#undo.redo(this.#state));
  }

  get #raw(): string {
    return this.#state.lines.join("\n");
  }

  get #selection(): Range | undefined {
    const { cursor, anchor } = this.#state;
    const range = anchor === undefined ? undefined : rangeOf(cursor, anchor);
    return range === undefined || isEmptyRange(range) ? undefined : range;
  }

  #target(motion: Motion): TextPosition {
    return MOTIONS[motion](this.#state.lines, this.#state.cursor);
  }

  #moveTo(cursor: TextPosition, select: boolean): void {
    const anchor = select ? (this.#state.anchor ?? this.#state.cursor) : undefined;
    this.#state = { lines: this.#state.lines, cursor, anchor };
    this.#undo.endGroup();
    this.#ended();
  }

  /** The whole stays within what can be sent. */
  #clean(text: string): string {
    return cleaned(text, Math.max(0, LIMITS.prompt - this.#attachments.lengthOf(this.#raw)));
  }

  /** The character for a text that is folded; the text itself if it is not, as much of it as can be laid out. */
  #folded(text: string, isLarge: boolean): string {
    const atom = isLarge ? this.#attachments.add({ kind: "paste", text }) : undefined;
    return atom ?? text.slice(0, MAX_OPEN);
  }

  #insert(text: string, kind: ChangeKind): void {
    if (text === "") return;
    const range = this.#selection ?? { from: this.#state.cursor, to: this.#state.cursor };
    this.#change(replaceRange(this.#state.lines, range, text), kind);
  }

  #change(next: TextState, kind: ChangeKind): void {
    this.#undo.note(this.#state, kind);
    this.#state = next;
    this.#ended();
  }

  #restore(state: TextState | undefined): boolean {
    if (state !== undefined) this.#state = state;
    this.#ended();
    return state !== undefined;
  }

  #ended(): void {
    this.#lastAction = "other";
    this.#goal = undefined;
    this.#yanked = undefined;
  }
}
