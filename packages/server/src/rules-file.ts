import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import type { Rules } from "@flint/core/ports";

/**
 * What was allowed for always, one JSON string a line, in a file only its user can read. Read on first use and
 * appended to; a line that is not readable allows nothing.
 */
export class RulesFile implements Rules {
  readonly #path: string;
  #keys: Set<string> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  has(key: string): boolean {
    return this.#load().has(key);
  }

  add(key: string): void {
    const keys = this.#load();
    if (keys.has(key)) return;
    keys.add(key);
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    const flags = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW;
    const file = openSync(this.#path, flags, 0o600);
    try {
      // A file that somebody else made, or copied, may be open to others.
      fchmodSync(file, 0o600);
      // A line end before it keeps it apart from what a crash may have left half-written.
      writeSync(file, `\n${JSON.stringify(key)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }

  #load(): Set<string> {
    this.#keys ??= new Set(readLines(this.#path).flatMap(keyOf));
    return this.#keys;
  }
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n");
  } catch {
    // No file, no rules: everything is asked about.
    return [];
  }
}

function keyOf(line: string): string[] {
  try {
    const key: unknown = JSON.parse(line);
    return typeof key === "string" ? [key] : [];
  } catch {
    // A torn line was never a rule.
    return [];
  }
}
