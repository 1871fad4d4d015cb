import { createHash } from "node:crypto";
import { FileAccessError } from "@flint/host/files";

/** The number of files that are remembered; the least recently used are dropped first. */
const MAX_FILES = 2000;

/** The versions of files that the model knows: as it last read or wrote them. */
export class FileVersions {
  readonly #hashes = new Map<string, string>();

  /** The model has read or written this content. The path has no links. */
  set(path: string, content: Uint8Array | string): void {
    this.#hashes.delete(path);
    this.#hashes.set(path, hashOf(content));
    const [oldest] = this.#hashes.keys();
    if (this.#hashes.size > MAX_FILES && oldest !== undefined) this.#hashes.delete(oldest);
  }

  /** The file no longer exists. */
  delete(path: string): void {
    this.#hashes.delete(path);
  }

  /** Throws a FileAccessError if the content differs from the version that the model knows. */
  rejectStale(path: string, content: Uint8Array | string, shown: string): void {
    const known = this.#hashes.get(path);
    if (known === undefined || hashOf(content) === known) return;
    throw new FileAccessError(
      `${shown} has changed since you last read it. Read it again before you change it.`,
    );
  }
}

function hashOf(content: Uint8Array | string): string {
  return createHash("sha256").update(content).digest("base64");
}
