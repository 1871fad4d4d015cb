import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { LIMITS } from "@flint/protocol";
import { type Content, parseContent } from "../editor/content.ts";
import { removeFile, replaceFile } from "./private-file.ts";

/** Beyond this many, the oldest drafts are removed. */
const MAX_DRAFTS = 200;

/** In JSON, a character of a prompt takes six bytes at most. */
const MAX_BYTES = LIMITS.prompt * 6;

/**
 * The unfinished prompt of each thread, in files that only the user can read, so that it survives the
 * terminal. A thread that does not exist yet is named by its folder.
 */
export class Drafts {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The draft of a thread with its images and pastes; empty if there is none. */
  read(name: string): Content {
    const path = this.#pathOf(name);
    // Expected: no draft, or a folder that may not be read.
    try {
      return statSync(path).size > MAX_BYTES ? [] : (parseContent(readFileSync(path, "utf8")) ?? []);
    } catch {
      return [];
    }
  }

  /** Stores the draft of a thread; an empty one is removed. False if it could not be stored. */
  write(name: string, content: Content): boolean {
    const path = this.#pathOf(name);
    if (content.every((piece) => typeof piece === "string" && piece.trim() === "")) {
      removeFile(path);
      return true;
    }
    const isStored = replaceFile(path, JSON.stringify(content));
    this.#removeOldest();
    return isStored;
  }

  /** Names may have any characters, and must not lead out of the folder. */
  #pathOf(name: string): string {
    return join(this.#folder, `${createHash("sha256").update(name).digest("hex").slice(0, 32)}.json`);
  }

  #removeOldest(): void {
    const names = namesIn(this.#folder);
    if (names.length <= MAX_DRAFTS) return;
    const byAge = names
      .map((name) => ({
        name,
        at: statSync(join(this.#folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
      }))
      .sort((left, right) => left.at - right.at);
    for (const { name } of byAge.slice(0, names.length - MAX_DRAFTS)) removeFile(join(this.#folder, name));
  }
}

function namesIn(folder: string): readonly string[] {
  // Expected: no folder, because the draft could not be stored.
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
