import { join } from "node:path";
import { isId, isRecord, type Thread } from "@flint/protocol";
import { type FileSystem, isTemporary, OPEN, openPrivate, replaceFile } from "../file-system.ts";
import { acquireLock } from "../lock.ts";
import { isThread, wellFormed } from "../log/record.ts";
import type { ListedThread } from "./thread-list.ts";

const ATTEMPTS = 3;
const NAME = "index.jsonl";

/** A line of the index: the current list entry of a thread, or undefined if it was deleted. */
export interface IndexLine {
  readonly id: string;
  readonly entry: ListedThread | undefined;
}

interface OpenFile {
  readonly file: number;
  readonly inode: number;
}

/**
 * The list of threads as a file that several processes append to, and that one of them may compact. It may be lost at any
 * time: it can be rebuilt from the folders of the threads.
 */
export class IndexFile {
  readonly #files: FileSystem;
  readonly #root: string;
  readonly #path: string;
  #output: OpenFile | undefined;
  #inode: number | undefined;
  #readTo = 0;
  #lines = 0;

  constructor(files: FileSystem, root: string) {
    this.#files = files;
    this.#root = root;
    this.#path = join(root, NAME);
  }

  /** Number of lines of the current file that were read. */
  get lines(): number {
    return this.#lines;
  }

  /** Appends lines; throws if that is not possible. */
  append(lines: readonly IndexLine[]): void {
    // The leading line end separates them from a line that another process may have left incomplete.
    this.#appendBytes(Buffer.from(`\n${lines.map(encodeLine).join("\n")}\n`, "utf8"));
  }

  /** The lines added since the last call. `replaced`: the file is another one, and these are all its lines. */
  readNew(): { replaced: boolean; lines: IndexLine[] } {
    const stats = this.#files.lstatSync(this.#path);
    if (stats === undefined) return this.#restart(0, Buffer.alloc(0));
    if (stats.ino === this.#inode && stats.size === this.#readTo) return { replaced: false, lines: [] };
    const file = openPrivate(this.#files, this.#path, OPEN.read);
    try {
      const { ino, size } = this.#files.fstatSync(file);
      const isSame = ino === this.#inode && size >= this.#readTo;
      if (!isSame) return this.#restart(ino, this.#readFrom(file, 0, size));
      return { replaced: false, lines: this.#take(this.#readFrom(file, this.#readTo, size)) };
    } finally {
      this.#files.closeSync(file);
    }
  }

  /** All lines, including those that were read before. */
  readAll(): IndexLine[] {
    this.#inode = undefined;
    return this.readNew().lines;
  }

  /** Replaces the file by one with only these entries, unless another process is doing so. */
  async compact(entries: readonly ListedThread[]): Promise<void> {
    const attempt = await acquireLock(this.#files, this.#root, "index.lock");
    if (!("lock" in attempt)) return;
    try {
      await this.#removeTemporary();
      await this.#replace(entries);
    } finally {
      await attempt.lock.release();
    }
  }

  close(): void {
    if (this.#output !== undefined) this.#files.closeSync(this.#output.file);
    this.#output = undefined;
  }

  #appendBytes(bytes: Buffer): void {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      this.#output ??= this.#openOutput();
      const { file, inode } = this.#output;
      for (let done = 0; done < bytes.length; ) {
        const count = this.#files.writeSync(file, bytes.subarray(done));
        if (count === 0) throw new Error("the file takes no more bytes");
        done += count;
      }
      if (this.#files.lstatSync(this.#path)?.ino === inode) return;
      // Another process replaced the file meanwhile, and the new one may lack these lines.
      this.close();
    }
  }

  #openOutput(): OpenFile {
    const file = openPrivate(this.#files, this.#path, OPEN.appendIndex);
    return { file, inode: this.#files.fstatSync(file).ino };
  }

  #restart(inode: number, bytes: Buffer): { replaced: boolean; lines: IndexLine[] } {
    const replaced = this.#inode !== inode || inode !== 0;
    this.#inode = inode;
    this.#readTo = 0;
    this.#lines = 0;
    return { replaced, lines: this.#take(bytes) };
  }

  #readFrom(file: number, from: number, to: number): Buffer {
    const bytes = Buffer.allocUnsafe(to - from);
    let filled = 0;
    while (filled < bytes.length) {
      const count = this.#files.readSync(file, bytes.subarray(filled), from + filled);
      if (count === 0) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  }

  /** Complete lines only: the rest may still be being written. */
  #take(bytes: Buffer): IndexLine[] {
    const length = bytes.lastIndexOf("\n") + 1;
    this.#readTo += length;
    const { values, lines } = parsedLines(bytes.toString("utf8", 0, length));
    this.#lines += lines;
    const decoded: IndexLine[] = [];
    for (const value of values) {
      const line = decodeLine(value);
      if (line !== undefined) decoded.push(line);
    }
    return decoded;
  }

  async #replace(entries: readonly ListedThread[]): Promise<void> {
    const old = openPrivate(this.#files, this.#path, OPEN.read);
    try {
      const readTo = this.#readTo;
      const lines = entries.map((entry) => `${encodeLine({ id: entry.thread.id, entry })}\n`);
      const bytes = Buffer.from(lines.join(""), "utf8");
      await replaceFile(this.#files, this.#path, bytes, true);
      this.#inode = this.#files.lstatSync(this.#path)?.ino;
      this.#readTo = bytes.length;
      this.#lines = lines.length;
      // Lines appended to the old file meanwhile are not among the entries; later writers notice the new file.
      const late = this.#readFrom(old, readTo, this.#files.fstatSync(old).size);
      if (late.length > 0) this.#appendBytes(Buffer.concat([late, Buffer.from("\n")]));
    } finally {
      this.#files.closeSync(old);
    }
  }

  async #removeTemporary(): Promise<void> {
    for (const { name } of await this.#files.readdir(this.#root)) {
      if (name.startsWith("index.") && isTemporary(name)) await this.#files.unlink(join(this.#root, name));
    }
  }
}

function encodeLine({ id, entry }: IndexLine): string {
  return wellFormed(JSON.stringify(entry === undefined ? { id, deleted: true } : { id, ...entry }));
}

/**
 * The values of all lines but damaged ones, and how many lines there are. Parsed as one list where possible, which takes
 * half as long for many lines and leaves less to collect.
 */
function parsedLines(text: string): { values: readonly unknown[]; lines: number } {
  // Expected: damaged lines, which are left out below. No string of JSON spans two lines, so none can be read as one.
  try {
    const values: unknown = JSON.parse(`[${text.trim().replaceAll(/\n+/g, "\n,")}]`);
    if (Array.isArray(values)) return { values, lines: values.length };
  } catch {}
  const lines = text.split("\n").filter((line) => line !== "");
  const values = lines.flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      // Torn or damaged: the thread is found by its folder.
      return [];
    }
  });
  return { values, lines: lines.length };
}

function decodeLine(value: unknown): IndexLine | undefined {
  if (!isRecord(value) || typeof value.id !== "string" || !isId(value.id)) return undefined;
  if (value.deleted === true) return { id: value.id, entry: undefined };
  const { thread, createdAtMs, updatedAtMs } = value;
  if (!isThread(thread) || typeof createdAtMs !== "number" || typeof updatedAtMs !== "number")
    return undefined;
  return { id: value.id, entry: { thread: listed(thread, value.id), createdAtMs, updatedAtMs } };
}

function listed(thread: Thread, id: string): Thread {
  if (thread.id === id && thread.status.type === "notLoaded") return thread;
  return { ...thread, id, status: { type: "notLoaded" } };
}
