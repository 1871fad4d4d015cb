/** Modifiers that were held. Shift is only set where the character does not already show it. */
export interface Modifiers {
  readonly ctrl: boolean;
  readonly alt: boolean;
  readonly shift: boolean;
  readonly super: boolean;
}

/**
 * A key that was pressed: a character such as `a` or `é`, or a name such as `up`. `text` is what it types; keys that type
 * nothing have none.
 */
export interface KeyPress extends Modifiers {
  readonly type: "key";
  readonly key: string;
  readonly text?: string;
}

/** Text that was pasted in one piece, with `\n` as its only line ending and no control characters but tabs. */
export interface Paste {
  readonly type: "paste";
  readonly text: string;
  /** The number of characters that were dropped because the paste was too large. */
  readonly dropped: number;
}

/** The terminal got or lost the keyboard focus. */
export interface FocusChange {
  readonly type: "focus";
  readonly focused: boolean;
}

/** A colour of the terminal, each part from 0 to 255. */
export interface Rgb {
  readonly red: number;
  readonly green: number;
  readonly blue: number;
}

/** An answer of a terminal to a question about itself. */
export type TerminalAnswer =
  | { readonly about: "background" | "foreground"; readonly color: Rgb }
  | { readonly about: "attributes"; readonly values: readonly number[] }
  | { readonly about: "cursor"; readonly row: number; readonly column: number }
  | { readonly about: "keyboard"; readonly flags: number }
  | { readonly about: "mode"; readonly mode: number; readonly state: number }
  | { readonly about: "scheme"; readonly dark: boolean }
  | { readonly about: "name"; readonly name: string };

/** An answer of the terminal to a query. */
export interface Answer {
  readonly type: "answer";
  readonly answer: TerminalAnswer;
}

/** Everything that a terminal sends. */
export type InputEvent = KeyPress | Paste | FocusChange | Answer;

const NO_MODIFIERS: Modifiers = { ctrl: false, alt: false, shift: false, super: false };

/** A press of a named key, without modifiers unless given. */
export function namedKey(key: string, modifiers: Partial<Modifiers> = {}): KeyPress {
  return { type: "key", key, ...NO_MODIFIERS, ...modifiers };
}

/**
 * A press of a key with a character. With Ctrl or Alt it types nothing, and a capital letter becomes Shift with the small
 * one, so that every terminal reports the same key.
 */
export function characterKey(character: string, modifiers: Partial<Modifiers> = {}): KeyPress {
  const { ctrl = false, alt = false, super: command = false } = modifiers;
  if (!ctrl && !alt && !command) return { type: "key", key: character, ...NO_MODIFIERS, text: character };
  const small = character.toLowerCase();
  const isCapital = small !== character && small.length === character.length;
  const shift = isCapital || (modifiers.shift === true && small !== character.toUpperCase());
  return { type: "key", key: isCapital ? small : character, ctrl, alt, shift, super: command };
}

/**
 * The name of a key with its modifiers in the notation of the configuration, such as `ctrl+alt+x`; a capital letter is
 * `shift` and the small one.
 */
export function keyName({ key, ctrl, alt, shift, super: command }: KeyPress): string {
  const small = key.toLowerCase();
  const held = [
    ...(ctrl ? ["ctrl"] : []),
    ...(alt ? ["alt"] : []),
    ...(shift || small !== key ? ["shift"] : []),
    ...(command ? ["super"] : []),
  ];
  return [...held, key === " " ? "space" : small].join("+");
}
