import type { Readable } from "node:stream";

const KEPT_CHARACTERS = 8_192;
const KEPT_LINES = 20;

/** The last lines that a process wrote to stderr, whatever the amount. */
export class LastWords {
  /** Resolves when there will be no more. */
  readonly ended: Promise<void>;
  #text = "";

  constructor(stderr: Readable) {
    stderr.setEncoding("utf8");
    stderr.on("data", (text: string) => {
      this.#text = (this.#text + text).slice(-KEPT_CHARACTERS);
    });
    // A broken pipe of diagnostics is no reason to fail; its close follows.
    stderr.on("error", () => undefined);
    this.ended = new Promise((resolve) => stderr.once("close", () => resolve()));
  }

  /** At most twenty lines, without the blank ones at the end. */
  get text(): string {
    return this.#text.trimEnd().split("\n").slice(-KEPT_LINES).join("\n");
  }
}
