import { characterKey, type KeyPress, type Modifiers, namedKey } from "./input-event.ts";

/** A control sequence: `ESC [`, its parameters, and the character that ends it. */
export interface ControlSequence {
  /** `?`, `<`, `=` or `>` before the parameters, which marks the sequence as private; else empty. */
  readonly prefix: string;
  /** The parameters; each may have parts that are separated by colons. A missing number is undefined. */
  readonly parameters: readonly (readonly (number | undefined)[])[];
  readonly intermediate: string;
  readonly final: string;
}

const LETTER_KEYS: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  E: "begin",
  F: "end",
  H: "home",
  P: "f1",
  Q: "f2",
  R: "f3",
  S: "f4",
};

/** Keys of the sequences that end in `~`; `$`, `^` and `@` are rxvt's, with Shift, Ctrl, or both. */
const NUMBERED_KEYS: Readonly<Record<number, string>> = {
  1: "home",
  2: "insert",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
  ...Object.fromEntries([11, 12, 13, 14, 15].map((code, index) => [code, `f${index + 1}`])),
  ...Object.fromEntries([17, 18, 19, 20, 21].map((code, index) => [code, `f${index + 6}`])),
  ...Object.fromEntries([23, 24].map((code, index) => [code, `f${index + 11}`])),
};

const RXVT_MODIFIERS: Readonly<Record<string, Partial<Modifiers>>> = {
  $: { shift: true },
  "^": { ctrl: true },
  "@": { ctrl: true, shift: true },
};

/** Keys with a code of their own in kitty's protocol. Its other codes from 57344 on are modifiers, locks and media keys. */
const KITTY_KEYS: Readonly<Record<number, string>> = {
  9: "tab",
  13: "enter",
  27: "escape",
  127: "backspace",
  57409: ",",
  57410: "/",
  57411: "*",
  57412: "-",
  57413: "+",
  57414: "enter",
  57415: "=",
  ...Object.fromEntries(Array.from("0123456789.", (digit, index) => [57399 + index, digit])),
  ...Object.fromEntries(
    ["left", "right", "up", "down", "pageup", "pagedown", "home", "end", "insert", "delete", "begin"].map(
      (name, index) => [57417 + index, name],
    ),
  ),
};

const FIRST_PRIVATE_CODE = 57_344;
const LAST_PRIVATE_CODE = 63_743;

/** The key that a control sequence means; undefined if it means none, such as the release of a key. */
export function keyOfSequence(sequence: ControlSequence): KeyPress | undefined {
  const { prefix, parameters, intermediate, final } = sequence;
  if (prefix !== "" || intermediate !== "") return undefined;
  const [[code] = [], [modifierCode, eventType] = []] = parameters;
  if (eventType === RELEASED || (modifierCode ?? 1) > ALL_MODIFIERS) return undefined;
  const modifiers = modifiersOf(modifierCode);
  if (final === "u") return kittyKey(parameters, modifiers);
  if (final === "Z") return namedKey("tab", { ...modifiers, shift: true });
  if (final === "~" && code === 27) return codeKey(parameters[2]?.[0], modifiers);
  const rxvt = RXVT_MODIFIERS[final];
  const numbered = final === "~" || rxvt !== undefined ? NUMBERED_KEYS[code ?? -1] : undefined;
  if (numbered !== undefined) return namedKey(numbered, { ...modifiers, ...rxvt });
  const letter = (code ?? 1) === 1 ? LETTER_KEYS[final] : undefined;
  return letter === undefined ? undefined : namedKey(letter, modifiers);
}

const RELEASED = 3;
const ALL_MODIFIERS = 256;

/** The key of `ESC O` and a letter, as keypads in application mode and some function keys send it. */
export function keyOfSingleShift(letter: string): KeyPress | undefined {
  const name = letter === "M" ? "enter" : LETTER_KEYS[letter];
  if (name !== undefined) return namedKey(name);
  const keypad = /^[j-y]$/.test(letter)
    ? "*+,-./0123456789"[letter.charCodeAt(0) - "j".charCodeAt(0)]
    : undefined;
  return keypad === undefined ? undefined : characterKey(keypad);
}

/** The function key of `ESC [ [` and a letter, as the Linux console sends it. */
export function keyOfConsole(letter: string): KeyPress | undefined {
  const number = "ABCDE".indexOf(letter) + 1;
  return number === 0 ? undefined : namedKey(`f${number}`);
}

/** The key of a single character: text, or a control character, which is a key with Ctrl. */
export function keyOfCharacter(character: string, alt = false): KeyPress | undefined {
  const code = character.codePointAt(0) ?? 0;
  if (!alt && code > 0x20 && code < 0x7f) return characterKey(character);
  const modifiers = { alt };
  if (character === "\r") return namedKey("enter", modifiers);
  if (character === "\t") return namedKey("tab", modifiers);
  if (character === "\u007f") return namedKey("backspace", modifiers);
  if (character === "\u001b") return namedKey("escape", modifiers);
  if (code === 0) return characterKey(" ", { ...modifiers, ctrl: true });
  if (code < 0x20)
    return characterKey(String.fromCharCode(code + 0x40).toLowerCase(), { ...modifiers, ctrl: true });
  return isText(character) ? characterKey(character, modifiers) : undefined;
}

/**
 * Reports whether a character can be text: no control character, and not what stands for bytes that are not
 * UTF-8.
 */
function isText(character: string): boolean {
  if (character >= " " && character < "\u007f") return true;
  return !/^[\p{Cc}\p{Cs}\ufffd\ufffe\uffff]/u.test(character);
}

/** `CSI code:shifted:base ; modifiers:event ; text u`. */
function kittyKey(parameters: ControlSequence["parameters"], modifiers: Modifiers): KeyPress | undefined {
  const [[code, shifted] = [], , text = []] = parameters;
  const types = !modifiers.ctrl && !modifiers.alt && !modifiers.super;
  if (types && text.length > 0) {
    const typed = text.map((each) => textOfCode(each) ?? "").join("");
    return typed === "" ? undefined : { ...characterKey(typed), key: typed };
  }
  return codeKey(types && modifiers.shift ? (shifted ?? capitalOf(code) ?? code) : code, modifiers);
}

function codeKey(code: number | undefined, modifiers: Modifiers): KeyPress | undefined {
  const known = KITTY_KEYS[code ?? -1];
  if (known !== undefined && known.length > 1) return namedKey(known, modifiers);
  const character = known ?? textOfCode(code);
  return character === undefined ? undefined : characterKey(character, modifiers);
}

function capitalOf(code: number | undefined): number | undefined {
  return textOfCode(code)?.toUpperCase().codePointAt(0);
}

function textOfCode(code: number | undefined): string | undefined {
  if (code === undefined || code > 0x10_ffff) return undefined;
  if (code >= FIRST_PRIVATE_CODE && code <= LAST_PRIVATE_CODE) return undefined;
  const character = String.fromCodePoint(code);
  return isText(character) ? character : undefined;
}

/** The bits of a modifier parameter, which is sent plus one. Locks do not count; Meta is Alt and Hyper is Super. */
function modifiersOf(parameter: number | undefined): Modifiers {
  const bits = Math.max(0, (parameter ?? 1) - 1);
  return {
    shift: (bits & 1) !== 0,
    alt: (bits & (2 | 32)) !== 0,
    ctrl: (bits & 4) !== 0,
    super: (bits & (8 | 16)) !== 0,
  };
}
