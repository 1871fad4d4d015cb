import { readFile } from "node:fs/promises";
import { replaceWhole } from "../replace-file.ts";

/** Which content of which file is trusted, in a file only its user can read. */
export class TrustFile {
  readonly #path: string;
  #change: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  /** The hash that is trusted for each file. Asked anew every time, so that another process may change it. */
  async read(): Promise<ReadonlyMap<string, string>> {
    try {
      const stored: unknown = JSON.parse(await readFile(this.#path, "utf8"));
      if (typeof stored !== "object" || stored === null) return new Map();
      return new Map(Object.entries(stored).filter(([, hash]) => typeof hash === "string"));
    } catch {
      // No file, or one that is not readable, trusts nothing.
      return new Map();
    }
  }

  /** Changes it, one change after the other; undefined takes trust away. */
  change(changes: ReadonlyMap<string, string | undefined>): Promise<void> {
    const changed = this.#change.then(() => this.#write(changes));
    this.#change = changed.catch(() => undefined);
    return changed;
  }

  async #write(changes: ReadonlyMap<string, string | undefined>): Promise<void> {
    const trusted = new Map(await this.read());
    for (const [path, hash] of changes) {
      if (hash === undefined) trusted.delete(path);
      else trusted.set(path, hash);
    }
    await replaceWhole(this.#path, `${JSON.stringify(Object.fromEntries(trusted), undefined, 2)}\n`);
  }
}
