import { StringDecoder } from "node:string_decoder";

/** What is needed of a terminal that is typed at; `process.stdin` is one. */
export interface KeySource {
  setRawMode(raw: boolean): unknown;
  resume(): unknown;
  pause(): unknown;
  on(event: "data", listener: (chunk: Buffer) => void): unknown;
  off(event: "data", listener: (chunk: Buffer) => void): unknown;
}

/** Hears a key. One that did not come alone was pasted, or typed while nobody looked. */
export type KeyListener = (key: Key, alone: boolean) => void;

/**
 * The keys of a terminal, one by one and without an echo, for as long as somebody holds it. Whoever listens last gets
 * them; what nobody wants is dropped, so nothing that was typed before a question can answer it.
 */
export class Keyboard {
  readonly #source: KeySource;
  readonly #fallback: (key: Key) => void;
  readonly #decoder = new StringDecoder("utf8");
  #listener: KeyListener | undefined;
  #holds = 0;

  /** The fallback hears the keys for which nobody listens, such as an interrupt. */
  constructor(source: KeySource, fallback: (key: Key) => void) {
    this.#source = source;
    this.#fallback = fallback;
  }

  /** Takes the keys of the terminal until as many releases have come. */
  hold(): void {
    this.#holds += 1;
    if (this.#holds > 1) return;
    this.#source.setRawMode(true);
    this.#source.on("data", this.#onData);
    this.#source.resume();
  }

  /** Gives the terminal back as it was. */
  release(): void {
    if (this.#holds === 0) return;
    this.#holds -= 1;
    if (this.#holds > 0) return;
    this.#source.off("data", this.#onData);
    this.#source.pause();
    this.#source.setRawMode(false);
  }

  /** Gives the terminal back however many hold it; for the end of the program. */
  releaseAll(): void {
    this.#holds = Math.min(this.#holds, 1);
    this.release();
  }

  /** Sets the mode again, after the program was stopped and goes on. */
  refresh(): void {
    if (this.#holds > 0) this.#source.setRawMode(true);
  }

  /** Sends every key to one listener; undefined sends them to nobody. */
  listen(listener: KeyListener | undefined): void {
    this.#listener = listener;
  }

  readonly #onData = (chunk: Buffer): void => {
    const keys = readKeys(this.#decoder.write(chunk));
    for (const key of keys) {
      if (key.type === "interrupt" || key.type === "suspend") this.#fallback(key);
      else this.#listener?.(key, keys.length === 1);
    }
  };
}

/** What was pressed: a character that can be typed, or one of the keys that mean something here. */
export type Key =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "enter" | "backspace" | "clear" | "escape" | "interrupt" | "end" | "suspend" };

/** What a byte of a key means here. Others have no meaning and are dropped. */
const CONTROLS: Readonly<Record<string, Exclude<Key["type"], "text">>> = {
  "\r": "enter",
  "\n": "enter",
  "\u007f": "backspace",
  "\b": "backspace",
  "\u0015": "clear",
  "\u0003": "interrupt",
  "\u0004": "end",
  "\u001a": "suspend",
  "\u001b": "escape",
};

/** An arrow, a function key, a paste bracket or another answer of the terminal: one key, and none of ours. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals write keys like this
const SEQUENCE = /^\u001b(?:\[[0-?]*[ -/]*[@-~]|O.|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[^[\]O\u001b])/u;

/** The keys in what a terminal in raw mode has sent. */
export function readKeys(chunk: string): Key[] {
  const keys: Key[] = [];
  for (let rest = chunk; rest !== ""; ) {
    const [sequence] = SEQUENCE.exec(rest) ?? [];
    const taken = sequence ?? String.fromCodePoint(rest.codePointAt(0) ?? 0);
    rest = rest.slice(taken.length);
    const control = CONTROLS[taken];
    if (control !== undefined) keys.push({ type: control });
    else if (sequence === undefined && taken >= " ") keys.push({ type: "text", text: taken });
  }
  return keys;
}
