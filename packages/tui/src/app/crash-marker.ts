import type { Machine } from "../session/machine.ts";
import { ALTERNATE, CURSOR, READING } from "../terminal/modes.ts";
import { WHEEL_ON } from "../terminal/wheel.ts";

const WITHOUT_WHEEL = "alternate without wheel";

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
    const wheel = left === WITHOUT_WHEEL ? WHEEL_ON : "";
    return `${wheel}${left.startsWith("alternate") ? ALTERNATE.leave : ""}${READING.off}${CURSOR.show}`;
  }

  /** The terminal is in use, perhaps with its alternate screen, and perhaps without the wheel there. */
  mark(isAlternate: boolean, isWheelOff = false): void {
    if (isAlternate) this.#write(isWheelOff ? WITHOUT_WHEEL : "alternate");
    else this.#write("main");
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
