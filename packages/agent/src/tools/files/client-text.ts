import type { ClientFiles } from "@flint/core/ports";
import { FileAccessError } from "@flint/host/files";
import { errorMessage } from "@flint/protocol";

/** The text of one file as the client has it, which may not be saved yet. */
export class ClientText {
  readonly #files: ClientFiles;
  readonly #path: string;
  readonly #signal: AbortSignal;

  /** The path has no links. */
  constructor(files: ClientFiles, path: string, signal: AbortSignal) {
    this.#files = files;
    this.#path = path;
    this.#signal = signal;
  }

  /** The client's text; undefined if it has none. Throws a FileAccessError if it does not answer. */
  read(): Promise<string | undefined> {
    return this.#files.read(this.#path, this.#signal).catch((thrown: unknown) => {
      throw this.#problem("read", thrown);
    });
  }

  /** Has the client write the whole text. Throws a FileAccessError if it does not. */
  write(text: string): Promise<void> {
    return this.#files.write(this.#path, text, this.#signal).catch((thrown: unknown) => {
      throw this.#problem("write", thrown);
    });
  }

  #problem(what: "read" | "write", cause: unknown): FileAccessError {
    return new FileAccessError(`The client did not ${what} ${this.#path}: ${errorMessage(cause)}`, { cause });
  }
}
