import type { Machine } from "../session/machine.ts";
import { ALTERNATE, CURSOR, READING } from "../terminal/modes.ts";

/**
 * Remembers that a terminal is in use, so that the next session on it can clean up after one that was killed and could not.
 * Without a name of the terminal nothing is remembered.
 */
export class CrashMarker {
  readonly #machine: Pick<Machine, "readNote" | "writeNote">;
  readonly #note: string | undefined;
  #written: string | undefined;

  constructor(machine: Pick<Machine, "readNote" | "writeNote">, terminal: string | undefined) {
    this.#machine = machine;
    this.#note = terminal === undefined ? undefined : `open-${terminal}`;
  }

  /** Returns the sequences that undo the modes of a session that was killed here; empty if none was. */
  cleanUp(): string {
    const left = this.#note === undefined ? undefined : this.#machine.readNote(this.#note);
    if (left === undefined || left === "") return "";
    // Leaving the alternate screen moves the cursor, so that is done only if it is on.
    return `${left === "alternate" ? ALTERNATE.leave : ""}${READING.off}${CURSOR.show}`;
  }

  /** The terminal is in use, perhaps with its alternate screen. */
  mark(isAlternate: boolean): void {
    this.#write(isAlternate ? "alternate" : "main");
  }

  /** The terminal is as it was. */
  clear(): void {
    this.#write("");
  }

  #write(state: string): void {
    if (this.#note === undefined || state === this.#written) return;
    this.#written = state;
    this.#machine.writeNote(this.#note, state);
  }
}
