import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { writePrivateFile } from "@flint/host/private-file";
import { FlintError } from "@flint/protocol";

/** A value to set, by its dotted path; null removes it. */
export interface PreferenceEdit {
  readonly keyPath: string;
  readonly value: unknown;
}

/** The stored preferences, and a version that changes with them. */
export interface Preferences {
  readonly values: Readonly<Record<string, unknown>>;
  readonly version: string;
}

const MAX_BYTES = 262_144;
const KEY_PATH = /^[^\p{Cc}]{1,300}$/u;

/**
 * Stores what clients of the Codex front end write to their configuration, such as notices that were read, by key path.
 * It has no effect on Flint.
 */
export class PreferencesFile {
  readonly path: string;
  #change: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.path = path;
  }

  /** Reads the preferences; a missing or unreadable file has none. */
  async read(): Promise<Preferences> {
    const text = await readFile(this.path, "utf8").catch(() => "{}");
    return { values: valuesIn(text), version: versionOf(text) };
  }

  /** Stores all edits or none. Rejects if `expected` is given and is not the current version. */
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
        "The configuration has changed since it was read; read it again.",
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
    if (text.length > MAX_BYTES) {
      throw new FlintError("invalidParams", `Preferences are limited to ${MAX_BYTES} bytes.`);
    }
    await writePrivateFile(this.path, text);
    return { values: valuesIn(text), version: versionOf(text) };
  }
}

function valuesIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const stored: unknown = JSON.parse(text);
    return typeof stored === "object" && stored !== null ? { ...stored } : {};
  } catch {
    // A truncated or foreign file: clients show their notices once more.
    return {};
  }
}

function versionOf(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}
