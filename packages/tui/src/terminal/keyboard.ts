import { StringDecoder } from "node:string_decoder";

/** A terminal that keys are read from, such as `process.stdin`. */
export interface KeySource {
  setRawMode(raw: boolean): unknown;
  resume(): unknown;
  pause(): unknown;
  on(event: "data", listener: (chunk: Buffer) => void): unknown;
  off(event: "data", listener: (chunk: Buffer) => void): unknown;
}

/** Receives a key. One that arrived together with others was pasted, or typed while no one was reading. */
export type KeyListener = (key: Key, alone: boolean) => void;

/**
 * Reads the keys of a terminal in raw mode while anyone holds it. The latest listener gets them; keys without a listener
 * are dropped, so that nothing typed before a question can answer it.
 */
export class Keyboard {
  readonly #source: KeySource;
  readonly #fallback: (key: Key) => void;
  readonly #decoder = new StringDecoder("utf8");
  #listener: KeyListener | undefined;
  #holds = 0;

  /** The fallback gets interrupts and suspends, whichever listener is active. */
  constructor(source: KeySource, fallback: (key: Key) => void) {
    this.#source = source;
    this.#fallback = fallback;
  }

  /** Switches to raw mode until released as often as it was held. */
  hold(): void {
    this.#holds += 1;
    if (this.#holds > 1) return;
    this.#source.setRawMode(true);
    this.#source.on("data", this.#onData);
    this.#source.resume();
  }

  /** Restores the terminal's mode. */
  release(): void {
    if (this.#holds === 0) return;
    this.#holds -= 1;
    if (this.#holds > 0) return;
    this.#source.off("data", this.#onData);
    this.#source.pause();
    this.#source.setRawMode(false);
  }

  /** Restores the terminal's mode, however often it is held; for the end of the program. */
  releaseAll(): void {
    this.#holds = Math.min(this.#holds, 1);
    this.release();
  }

  /** Sets raw mode again, after the program was suspended. */
  refresh(): void {
    if (this.#holds > 0) this.#source.setRawMode(true);
  }

  /** Sends every key to one listener; undefined drops them. */
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

/** A key: a printable character, or one that has a meaning here. */
export type Key =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "enter" | "backspace" | "clear" | "escape" | "interrupt" | "end" | "suspend" };

/** The control characters that have a meaning. Others are dropped. */
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

/** An arrow key, a function key, a paste bracket or a terminal response: one key without a meaning. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals write keys like this
const SEQUENCE = /^\u001b(?:\[[0-?]*[ -/]*[@-~]|O.|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[^[\]O\u001b])/u;

/** Parses what a terminal in raw mode has sent. */
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
