import { answerOfCommand, answerOfDeviceString, answerOfSequence } from "./answers.ts";
import type { InputEvent, TerminalAnswer } from "./input-event.ts";
import {
  type ControlSequence,
  keyOfCharacter,
  keyOfConsole,
  keyOfSequence,
  keyOfSingleShift,
} from "./key-sequences.ts";
import { PasteCollector } from "./paste.ts";

const ESCAPE = "\u001b";

/** The time to wait for the rest of what looks unfinished, in milliseconds. */
const PATIENCE = {
  /** A lone escape is the Escape key, unless a sequence follows at once. */
  escape: 50,
  /** A sequence that has begun comes in one piece, but a slow connection may split it. */
  sequence: 500,
  /** A paste may stall on a slow connection. What follows after this long is typed. */
  paste: 2_000,
} as const;

/** Longer sequences are not from any terminal. */
const MAX_SEQUENCE = 128;
const MAX_STRING = 4_096;

/**
 * The unfinished part: none, the start of a sequence, a string of the terminal, a sequence that is skipped,
 * or a paste.
 */
type State =
  | { readonly in: "ground" }
  | { readonly in: "string"; readonly kind: "]" | "P" | "_"; body: string }
  | { readonly in: "skipped sequence" }
  | { readonly in: "paste"; readonly paste: PasteCollector };

/**
 * Decodes the bytes of a terminal in raw mode into events. Pure: it has no clock. After each `push`, wait for `patience`
 * milliseconds and call `expire`, unless more bytes come before.
 *
 * However the bytes are split, the events are the same. Garbage and unfinished sequences are dropped: they never become
 * text, and never a key that was not pressed.
 */
export class KeyDecoder {
  readonly #utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  #state: State = { in: "ground" };
  /** Characters that may be the start of a sequence. */
  #rest = "";
  #events: InputEvent[] = [];

  /** Decodes the next bytes. */
  push(bytes: Uint8Array): InputEvent[] {
    return this.#decode(this.#utf8.decode(bytes, { stream: true }));
  }

  /** Time to wait before `expire`, in milliseconds; undefined if nothing is unfinished. */
  get patience(): number | undefined {
    if (this.#state.in === "paste") return PATIENCE.paste;
    if (this.#state.in !== "ground") return PATIENCE.sequence;
    if (this.#rest === "") return undefined;
    return MAY_BE_KEYS.test(this.#rest) ? PATIENCE.escape : PATIENCE.sequence;
  }

  /** Decides about what is unfinished, because nothing followed for as long as `patience` says. */
  expire(): InputEvent[] {
    const state = this.#state;
    const rest = this.#rest;
    this.#state = { in: "ground" };
    this.#rest = "";
    if (state.in === "paste") this.#events.push(state.paste.finish());
    // Half of a sequence or a string is dropped.
    else if (state.in === "ground" && MAY_BE_KEYS.test(rest)) this.#pressed(rest);
    return this.#take();
  }

  #decode(text: string): InputEvent[] {
    let input = this.#rest + text;
    this.#rest = "";
    while (input !== "") {
      const left = this.#step(input);
      if (left.length === input.length) {
        this.#rest = input;
        break;
      }
      input = left;
    }
    return this.#take();
  }

  #take(): InputEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** Consumes the start of the input and returns what is left; all of it if more is needed. */
  #step(input: string): string {
    const state = this.#state;
    switch (state.in) {
      case "ground":
        return input.startsWith(ESCAPE) ? this.#escape(input) : this.#plain(input);
      case "string":
        return this.#string(state, input);
      case "skipped sequence":
        return this.#skip(input);
      case "paste": {
        const left = state.paste.add(input);
        if (left === undefined) return "";
        this.#state = { in: "ground" };
        this.#events.push(state.paste.finish());
        return left;
      }
    }
  }

  /** Characters up to the next escape. */
  #plain(input: string): string {
    const end = input.indexOf(ESCAPE);
    const plain = end === -1 ? input : input.slice(0, end);
    for (const character of plain) this.#press(character, false);
    return input.slice(plain.length);
  }

  #escape(input: string): string {
    const next = input[1];
    switch (next) {
      case undefined:
        return input;
      case ESCAPE:
        return this.#twoEscapes(input);
      case "[":
        return this.#sequence(input, 2, false);
      case "O":
        return this.#singleShift(input, 2, false);
      case "]":
      case "P":
      case "_":
        return this.#stringStart(next, input);
      case "\u0003":
      case "\u0004":
      case "\u001a":
        // Keys that stop things are never swallowed: Escape, then Ctrl with C, D or Z, and no key with Alt.
        return this.#unfinished(input, 1);
      default:
        return this.#altKey(input);
    }
  }

  /** Two presses of Escape; or Alt with a key, for which rxvt and others put one more escape before its sequence. */
  #twoEscapes(input: string): string {
    const next = input[2];
    if (next === undefined) return input;
    if (next === "[" && input[3] !== ESCAPE) return this.#sequence(input, 3, true);
    if (next === "O" && input[3] !== ESCAPE) return this.#singleShift(input, 3, true);
    this.#press(ESCAPE, false);
    return input.slice(1);
  }

  #altKey(input: string): string {
    const character = String.fromCodePoint(input.codePointAt(1) ?? 0);
    this.#press(character, true);
    return input.slice(1 + character.length);
  }

  #singleShift(input: string, start: number, alt: boolean): string {
    const letter = input[start];
    if (letter === undefined) return input;
    const key = keyOfSingleShift(letter);
    if (key !== undefined) this.#events.push(alt ? { ...key, alt } : key);
    // Alt with a capital O, and then something else.
    else return this.#unfinished(input, start);
    return input.slice(start + 1);
  }

  /** Presses the keys that the start of the input would be without what follows. */
  #unfinished(input: string, length: number): string {
    this.#pressed(input.slice(0, length));
    return input.slice(length);
  }

  /** A control sequence whose parameters begin at `start`. */
  #sequence(input: string, start: number, alt: boolean): string {
    if (input[start] === "[") {
      const letter = input[start + 1];
      if (letter === undefined) return input;
      const key = keyOfConsole(letter);
      if (key !== undefined) this.#events.push(alt ? { ...key, alt } : key);
      return input.slice(letter === ESCAPE ? start + 1 : start + 2);
    }
    let end = start;
    while (/^[ -?]$/.test(input[end] ?? "")) end += 1;
    if (end - start > MAX_SEQUENCE) {
      this.#state = { in: "skipped sequence" };
      return input.slice(end);
    }
    const final = input[end];
    const shiftOfRxvt = /^\d+\$$/.test(input.slice(start, end));
    if (shiftOfRxvt) return this.#finishSequence(input, start, end - 1, alt);
    if (final === undefined) return input;
    if (/^[@-~]$/.test(final)) return this.#finishSequence(input, start, end, alt);
    // Alt with an opening bracket, and then something else; or half a sequence, which is dropped.
    return end === start ? this.#unfinished(input, end) : input.slice(end);
  }

  #finishSequence(input: string, start: number, end: number, alt: boolean): string {
    const sequence = parseSequence(input.slice(start, end), input[end] ?? "");
    const left = input.slice(end + 1);
    const { prefix, parameters, final } = sequence;
    const [number] = parameters[0] ?? [];
    const plain = prefix === "" && parameters.length === 0;
    if (final === "~" && prefix === "" && number === 200)
      this.#state = { in: "paste", paste: new PasteCollector() };
    else if (plain && (final === "I" || final === "O"))
      this.#events.push({ type: "focus", focused: final === "I" });
    else this.#keyOrAnswer(sequence, alt);
    return left;
  }

  #keyOrAnswer(sequence: ControlSequence, alt: boolean): void {
    const answer = answerOfSequence(sequence);
    const key = answer === undefined ? keyOfSequence(sequence) : undefined;
    this.#answered(answer);
    if (key !== undefined) this.#events.push(alt ? { ...key, alt } : key);
  }

  #answered(answer: TerminalAnswer | undefined): void {
    if (answer !== undefined) this.#events.push({ type: "answer", answer });
  }

  /** A sequence that was too long: everything up to its end is dropped. */
  #skip(input: string): string {
    const end = input.search(/[^ -?]/);
    if (end === -1) return "";
    this.#state = { in: "ground" };
    return input.slice(/[@-~]/.test(input[end] ?? "") ? end + 1 : end);
  }

  /** Strings of terminals start with what no key follows so fast; otherwise it was Alt with that key. */
  #stringStart(kind: "]" | "P" | "_", input: string): string {
    const next = input[2];
    if (next === undefined) return input;
    if (!STRING_STARTS[kind].test(next)) return this.#unfinished(input, 2);
    this.#state = { in: "string", kind, body: "" };
    return input.slice(2);
  }

  /** A string ends with BEL or `ESC \`; another escape ends it too, and begins something new. */
  #string(state: State & { in: "string" }, input: string): string {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals end strings like this
    const end = input.search(/[\u0007\u001b]/);
    const body = end === -1 ? input : input.slice(0, end);
    if (state.body.length <= MAX_STRING) state.body += body.slice(0, MAX_STRING + 1);
    if (end === -1) return "";
    if (input[end] === ESCAPE && input[end + 1] === undefined) return input.slice(end);
    this.#state = { in: "ground" };
    const isEnded = input[end] !== ESCAPE || input[end + 1] === "\\";
    if (isEnded && state.body.length <= MAX_STRING) this.#answered(answerOfString(state));
    if (!isEnded) return input.slice(end);
    return input.slice(end + (input[end] === ESCAPE ? 2 : 1));
  }

  /** Presses the keys of an escape and perhaps one character, or of two escapes. */
  #pressed(text: string): void {
    const [first, second, third] = text;
    if (second === undefined) this.#press(first ?? "", false);
    else if (second !== ESCAPE) this.#press(second, true);
    else {
      this.#press(ESCAPE, false);
      this.#pressed(third === undefined ? ESCAPE : ESCAPE + third);
    }
  }

  #press(character: string, alt: boolean): void {
    const key = keyOfCharacter(character, alt);
    if (key !== undefined) this.#events.push(key);
  }
}

/**
 * Sequences of the Escape key, pressed once or twice, and of Alt with a key. Terminals begin sequences with
 * the same.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals write keys like this
const MAY_BE_KEYS = /^\u001b{1,2}[[\]OP_]?$/;

const STRING_STARTS = { "]": /[0-9]/, P: /[0-9>!$+]/, _: /G/ } as const;

function answerOfString({ kind, body }: State & { in: "string" }): TerminalAnswer | undefined {
  if (kind === "]") return answerOfCommand(body);
  return kind === "P" ? answerOfDeviceString(body) : undefined;
}

function parseSequence(text: string, final: string): ControlSequence {
  const [, prefix = "", numbers = "", intermediate = ""] = /^([<-?]?)([0-9:;]*)(.*)$/s.exec(text) ?? [];
  const parameters = numbers === "" ? [] : numbers.split(";").map((each) => each.split(":").map(numberOf));
  return { prefix, parameters, intermediate, final };
}

function numberOf(digits: string): number | undefined {
  return digits === "" || digits.length > 9 ? undefined : Number(digits);
}
