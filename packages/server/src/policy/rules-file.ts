import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import type { Rules } from "@flint/core/ports";
import type { Rule } from "@flint/protocol";
import { lineAdding, lineRemoving, rulesOf } from "./rules-lines.ts";

/** What the file looked like when it was read: another look means that another server has written. */
interface Look {
  readonly size: number;
  readonly modifiedAtMs: number;
  readonly inode: number;
}

/**
 * What was allowed for always, in a file only its user can read. It is only ever appended to, so servers that share
 * it do not undo each other, and read again when it has changed. A line that is not readable allows nothing.
 */
export class RulesFile implements Rules {
  readonly #path: string;
  #rules: readonly Rule[] = [];
  #look: Look | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  list(): readonly Rule[] {
    const look = lookAt(this.#path);
    if (isSame(look, this.#look)) return this.#rules;
    this.#rules = look === undefined ? [] : rulesOf(readText(this.#path));
    this.#look = look;
    return this.#rules;
  }

  add(rule: Rule): void {
    if (!this.list().some((known) => coversSame(known, rule))) this.#append(lineAdding(rule));
  }

  remove(id: string): boolean {
    if (!this.list().some((rule) => rule.id === id)) return false;
    this.#append(lineRemoving(id));
    return true;
  }

  #append(line: string): void {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    const flags = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW;
    const file = openSync(this.#path, flags, 0o600);
    try {
      // A file that somebody else made, or copied, may be open to others.
      fchmodSync(file, 0o600);
      // A line end before it keeps it apart from what a crash may have left half-written.
      writeSync(file, `\n${line}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    this.#look = undefined;
  }
}

function coversSame({ id: _id, createdAt: _at, ...left }: Rule, right: Rule): boolean {
  const { id: _otherId, createdAt: _otherAt, ...other } = right;
  return JSON.stringify(left) === JSON.stringify(other);
}

function lookAt(path: string): Look | undefined {
  try {
    const found = statSync(path);
    // A pipe in its place would never be read to its end.
    if (!found.isFile()) return undefined;
    const { size, mtimeMs, ino } = found;
    return { size, modifiedAtMs: mtimeMs, inode: ino };
  } catch {
    // No file, or one that may not be looked at: no rules, everything is asked about.
    return undefined;
  }
}

function isSame(left: Look | undefined, right: Look | undefined): boolean {
  return (
    left !== undefined &&
    left.size === right?.size &&
    left.modifiedAtMs === right.modifiedAtMs &&
    left.inode === right.inode
  );
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // What cannot be read allows nothing.
    return "";
  }
}
