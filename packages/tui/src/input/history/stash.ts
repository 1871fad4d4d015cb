import { readFileSync, statSync } from "node:fs";
import { LIMITS } from "@flint/protocol";
import { type Content, parseContent } from "../editor/content.ts";
import { replaceFile } from "./private-file.ts";

/** The oldest is dropped beyond this many. */
const MAX_STASHED = 20;
const MAX_BYTES = LIMITS.prompt * 6;

/**
 * Prompts that the user has put aside, the latest on top, in a file that only they can read. All sessions share it. Without
 * a file they last as long as the session.
 */
export class Stash {
  readonly #path: string | undefined;
  #stashed: readonly string[] = [];

  constructor(path: string | undefined) {
    this.#path = path;
  }

  /** Puts a prompt aside. */
  push(content: Content): void {
    this.#write([...this.#read(), JSON.stringify(content)].slice(-MAX_STASHED));
  }

  /** Takes the latest prompt back; undefined if there is none. */
  pop(): Content | undefined {
    const stashed = this.#read();
    const latest = stashed.at(-1);
    if (latest === undefined) return undefined;
    this.#write(stashed.slice(0, -1));
    return parseContent(latest);
  }

  #read(): readonly string[] {
    if (this.#path === undefined) return this.#stashed;
    // Expected: nothing was put aside yet, or the file cannot be read.
    try {
      if (statSync(this.#path).size > MAX_BYTES) return this.#stashed;
      return readFileSync(this.#path, "utf8").split("\n").filter(isContent);
    } catch {
      return this.#stashed;
    }
  }

  /** Writes the stash. If it cannot be stored, it lasts as long as the session. */
  #write(stashed: readonly string[]): void {
    const isStored = this.#path !== undefined && replaceFile(this.#path, stashed.join("\n"));
    this.#stashed = isStored ? [] : stashed;
  }
}

function isContent(line: string): boolean {
  return parseContent(line) !== undefined;
}
