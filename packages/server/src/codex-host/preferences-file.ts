import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { FlintError } from "@flint/protocol";
import { replaceFile } from "../state/replace-file.ts";

/** One value to set, by its dotted path; null takes it away. */
export interface PreferenceEdit {
  readonly keyPath: string;
  readonly value: unknown;
}

/** What Codex clients want remembered, and a mark that changes whenever it does. */
export interface Preferences {
  readonly values: Readonly<Record<string, unknown>>;
  readonly version: string;
}

const MOST_BYTES = 262_144;
const KEY_PATH = /^[^\p{Cc}]{1,300}$/u;

/**
 * What clients of the Codex front end write into their configuration, such as notices that were read: kept for them, by its
 * path, and without any effect on Flint.
 */
export class PreferencesFile {
  readonly path: string;
  #change: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.path = path;
  }

  /** What was kept so far. A file that is not there, or not readable, holds nothing. */
  async read(): Promise<Preferences> {
    const text = await readFile(this.path, "utf8").catch(() => "{}");
    return { values: valuesIn(text), version: versionOf(text) };
  }

  /** Keeps values, all or none. With another `expected` version than the present one nothing is written. */
  write(edits: readonly PreferenceEdit[], expected?: string): Promise<Preferences> {
    const written = this.#change.then(() => this.#write(edits, expected));
    this.#change = written.catch(() => undefined);
    return written;
  }

  async #write(edits: readonly PreferenceEdit[], expected: string | undefined): Promise<Preferences> {
    const { values, version } = await this.read();
    if (expected !== undefined && expected !== version) {
      throw new FlintError(
        "invalidRequest",
        "The configuration was changed by somebody else; read it again.",
      );
    }
    const next = new Map(Object.entries(values));
    for (const { keyPath, value } of edits) {
      if (!KEY_PATH.test(keyPath))
        throw new FlintError("invalidParams", "A key path must be one line of text.");
      next.delete(keyPath);
      if (value !== null && value !== undefined) next.set(keyPath, value);
    }
    const text = `${JSON.stringify(Object.fromEntries(next), undefined, 2)}\n`;
    if (text.length > MOST_BYTES) {
      throw new FlintError("invalidParams", `More than ${MOST_BYTES} bytes of preferences are not kept.`);
    }
    await replaceFile(this.path, text);
    return { values: valuesIn(text), version: versionOf(text) };
  }
}

function valuesIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const stored: unknown = JSON.parse(text);
    return typeof stored === "object" && stored !== null ? { ...stored } : {};
  } catch {
    // Half a file, or somebody else's: clients ask their questions once more.
    return {};
  }
}

function versionOf(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}
