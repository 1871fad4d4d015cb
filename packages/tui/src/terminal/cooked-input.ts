const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Makes keys of what was typed before a terminal was in raw mode: until then it turns Enter into a line feed, which is
 * Ctrl-J in raw mode. What was typed by then can be read at once, so everything that comes later was typed in raw mode.
 */
export class CookedInput {
  #isOver = true;

  /** Notes that raw mode begins. */
  rawBegins(): void {
    this.#isOver = false;
    // Readable input is read before this.
    setImmediate(() => {
      this.#isOver = true;
    });
  }

  /** Converts typed text to what a terminal in raw mode sends. */
  read(bytes: Uint8Array): Uint8Array {
    return this.#isOver ? bytes : bytes.map((byte) => (byte === LINE_FEED ? CARRIAGE_RETURN : byte));
  }
}
