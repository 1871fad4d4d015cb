import type { Clock } from "@flint/core/ports";
import { KeyDecoder } from "./decoder.ts";
import { type InputEvent, type KeyPress, keyName } from "./input-event.ts";
import { pastedText } from "./paste.ts";

/** Gets the events that arrived together. More than one key at once was pasted, or typed while nothing was read. */
export type EventListener = (events: readonly InputEvent[]) => void;

/**
 * Turns the bytes of a terminal into events, in time: a lone Escape is reported when nothing has followed it for a moment.
 * At rest it has no timer.
 */
export class KeyReader {
  readonly #clock: Pick<Clock, "after">;
  readonly #listener: EventListener;
  #decoder = new KeyDecoder();
  #cancel: (() => void) | undefined;

  constructor(clock: Pick<Clock, "after">, listener: EventListener) {
    this.#clock = clock;
    this.#listener = listener;
  }

  /** Takes bytes as they arrive. */
  push(bytes: Uint8Array): void {
    this.#cancel?.();
    const events = this.#decoder.push(bytes);
    this.#wait();
    this.#deliver(events);
  }

  /** Forgets what is unfinished, for when the terminal was used by another program. */
  reset(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#decoder = new KeyDecoder();
  }

  #wait(): void {
    const { patience } = this.#decoder;
    this.#cancel =
      patience === undefined
        ? undefined
        : this.#clock.after(patience, () => {
            this.#cancel = undefined;
            this.#deliver(this.#decoder.expire());
          });
  }

  #deliver(events: readonly InputEvent[]): void {
    if (events.length > 0) this.#listener(detectPaste(events));
  }
}

/**
 * Reports whether the wheel of the mouse was turned: on the alternate screen, terminals send several arrow
 * keys at once for that, unless they have been told not to.
 */
export function isWheel(events: readonly InputEvent[]): boolean {
  const names = events.map((event) => (event.type === "key" ? keyName(event) : ""));
  return names.length > 1 && (names.every((name) => name === "up") || names.every((name) => name === "down"));
}

/** So many characters after an Enter that came with them were not typed, nor so many at once. */
const BURST = 8;
const LONG_BURST = 64;

/**
 * Makes a paste of text that arrives at once, for terminals without bracketed paste: its first Enter would send the
 * prompt. Keys typed on a slow connection stay keys: there, nothing or little follows an Enter.
 */
export function detectPaste(events: readonly InputEvent[]): readonly InputEvent[] {
  if (events.length <= BURST || !events.every(isTyping)) return events;
  const first = events.findIndex((event) => event.type === "key" && event.key === "enter");
  const isPasted = events.length > LONG_BURST || (first !== -1 && events.length - first - 1 >= BURST);
  if (!isPasted) return events;
  const text = events.map((event) => (isTyping(event) ? typedBy(event) : "")).join("");
  return [{ type: "paste", text: pastedText(text), dropped: 0 }];
}

function isTyping(event: InputEvent): event is KeyPress {
  return event.type === "key" && typedBy(event) !== "";
}

/** Returns the text that a key types into a file. */
function typedBy(event: KeyPress): string {
  if (event.text !== undefined) return event.text;
  if (event.alt || event.shift || event.super) return "";
  if (event.key === "j" && event.ctrl) return "\n";
  if (event.ctrl) return "";
  if (event.key === "tab") return "\t";
  return event.key === "enter" ? "\n" : "";
}
