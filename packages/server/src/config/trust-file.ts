import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** Which content of which file is trusted, in a file only its user can read. */
export class TrustFile {
  readonly #path: string;

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

  /** Changes it; undefined takes trust away. */
  async change(changes: ReadonlyMap<string, string | undefined>): Promise<void> {
    const trusted = new Map(await this.read());
    for (const [path, hash] of changes) {
      if (hash === undefined) trusted.delete(path);
      else trusted.set(path, hash);
    }
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const next = `${this.#path}.${process.pid}.new`;
    await writeFile(next, `${JSON.stringify(Object.fromEntries(trusted), undefined, 2)}\n`, {
      mode: 0o600,
      flush: true,
    });
    await chmod(next, 0o600);
    await rename(next, this.#path);
  }
}
