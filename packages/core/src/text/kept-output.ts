import { LIMITS } from "@flint/protocol";
import { headOf } from "./bounded-text.ts";

/** The beginning of what a command prints on one stream; the rest is counted. */
export class KeptOutput {
  text = "";
  omitted = 0;
  #room: number = LIMITS.output;

  add(text: string): void {
    const admitted = this.omitted > 0 ? "" : headOf(text, this.#room);
    const size = Buffer.byteLength(admitted);
    this.text += admitted;
    this.#room -= size;
    this.omitted += Buffer.byteLength(text) - size;
  }
}
