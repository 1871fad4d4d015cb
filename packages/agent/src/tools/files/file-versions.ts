import { createHash } from "node:crypto";
import { FileAccessError } from "@flint/host/files";

/** How many files are remembered; those that were not looked at for the longest time are forgotten first. */
const REMEMBERED = 2000;

/** What the model knows of files: as they were when it last read or wrote them. */
export class FileVersions {
  readonly #hashes = new Map<string, string>();

  /** The model has seen or made this content. The path is free of links. */
  set(path: string, content: Uint8Array | string): void {
    this.#hashes.delete(path);
    this.#hashes.set(path, hashOf(content));
    const [oldest] = this.#hashes.keys();
    if (this.#hashes.size > REMEMBERED && oldest !== undefined) this.#hashes.delete(oldest);
  }

  /** The file is gone, so nothing is known of it. */
  delete(path: string): void {
    this.#hashes.delete(path);
  }

  /** Throws a FileRefusal if the model knows a different content than the one that is there now. */
  rejectStale(path: string, content: Uint8Array | string, shown: string): void {
    const known = this.#hashes.get(path);
    if (known === undefined || hashOf(content) === known) return;
    throw new FileAccessError(
      `${shown} was changed since you last read it. Read it again before you change it.`,
    );
  }
}

function hashOf(content: Uint8Array | string): string {
  return createHash("sha256").update(content).digest("base64");
}
