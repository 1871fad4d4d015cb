import { readFile } from "node:fs/promises";
import { writePrivateFile } from "@flint/host/private-file";

/** The hashes of trusted files, in a file only its user can read. */
export class TrustFile {
  readonly #path: string;
  #change: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  /** The trusted hash of each file. Read every time, because other processes change it too. */
  async read(): Promise<ReadonlyMap<string, string>> {
    try {
      const stored: unknown = JSON.parse(await readFile(this.#path, "utf8"));
      if (typeof stored !== "object" || stored === null) return new Map();
      return new Map(Object.entries(stored).filter(([, hash]) => typeof hash === "string"));
    } catch {
      // A missing or unreadable file trusts nothing.
      return new Map();
    }
  }

  /** Applies changes one after the other; undefined removes trust. */
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
    await writePrivateFile(this.#path, `${JSON.stringify(Object.fromEntries(trusted), undefined, 2)}\n`);
  }
}
