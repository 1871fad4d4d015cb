import type { Machine } from "../../session/machine.ts";

const NOTE = "pins";

/** The threads that the user keeps at the top of the list, on this machine. */
export class Pins {
  readonly #machine: Pick<Machine, "readNote" | "writeNote">;
  readonly #ids: Set<string>;

  constructor(machine: Pick<Machine, "readNote" | "writeNote">) {
    this.#machine = machine;
    this.#ids = new Set((machine.readNote(NOTE) ?? "").split("\n").filter((id) => id !== ""));
  }

  has(threadId: string): boolean {
    return this.#ids.has(threadId);
  }

  /** Pins a thread, or unpins it. */
  toggle(threadId: string): void {
    if (!this.#ids.delete(threadId)) this.#ids.add(threadId);
    this.#machine.writeNote(NOTE, [...this.#ids].join("\n"));
  }
}
