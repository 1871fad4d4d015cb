import { closeSync, constants, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { type ChannelLine, type MessageRow, readChannelLine, type StoredSession } from "./rows.ts";

/** The store of agm's sessions and their messages. */
export interface Channels {
  /** All sessions, oldest first. */
  sessions(): Promise<readonly StoredSession[]>;
  session(id: string): Promise<StoredSession | undefined>;
  /** The messages of a session, oldest first. */
  messages(sessionId: string): Promise<readonly MessageRow[]>;
  /** Resolves once it is stored. Of two sessions with one id, the first counts. */
  append(line: ChannelLine): Promise<void>;
  close(): Promise<void>;
}

/** The dependencies of a file of channels. */
export interface ChannelFileOptions {
  readonly path: string;
  /** The most bytes that it may have; all of them are held in memory. */
  readonly limit?: number | undefined;
  onDamage(problem: string): void;
}

const LIMIT = 64 * 1024 * 1024;
const PIECE = 1024 * 1024;
const LF = 10;
/** Never follows a link, and never waits for a pipe. */
const FLAGS =
  constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * The sessions of this machine and their messages, one line each. Several processes may append to it at a time: each
 * line is one write at the end, and what the others wrote is read before it is used.
 */
export class ChannelFile implements Channels {
  readonly #file: number;
  readonly #options: ChannelFileOptions;
  readonly #sessions = new Map<string, StoredSession>();
  readonly #messages = new Map<string, MessageRow[]>();
  /** Offset up to which it was read: always the start of a line. */
  #offset = 0;

  private constructor(file: number, options: ChannelFileOptions) {
    this.#file = file;
    this.#options = options;
  }

  /** Opens the file, or makes it. Rejects if something else has its place. */
  static async open(options: ChannelFileOptions): Promise<ChannelFile> {
    await mkdir(dirname(options.path), { recursive: true, mode: 0o700 });
    const file = openSync(options.path, FLAGS, 0o600);
    if (fstatSync(file).isFile()) return new ChannelFile(file, options);
    closeSync(file);
    throw new Error(`${options.path} is not a plain file. Move it away.`);
  }

  async sessions(): Promise<readonly StoredSession[]> {
    this.#refresh();
    return [...this.#sessions.values()];
  }

  async session(id: string): Promise<StoredSession | undefined> {
    this.#refresh();
    return this.#sessions.get(id);
  }

  async messages(sessionId: string): Promise<readonly MessageRow[]> {
    this.#refresh();
    return this.#messages.get(sessionId) ?? [];
  }

  /** Resolves once the disk has it. */
  async append(line: ChannelLine): Promise<void> {
    const size = this.#refresh();
    // The partial line of a writer that died is not continued.
    const start = size > this.#offset ? "\n" : "";
    const bytes = Buffer.from(`${start}${JSON.stringify(line)}\n`);
    this.#assertFits(size + bytes.length);
    const written = writeSync(this.#file, bytes);
    if (written < bytes.length) throw new Error(`The disk of ${this.#options.path} is full.`);
    fdatasyncSync(this.#file);
  }

  async close(): Promise<void> {
    closeSync(this.#file);
  }

  /** Reads what is new, and returns the size of the file. */
  #refresh(): number {
    const { size } = fstatSync(this.#file);
    this.#assertFits(size);
    if (size < this.#offset) throw new Error(`${this.#options.path} was cut off while it was in use.`);
    const bytes = this.#read(size);
    const end = bytes.lastIndexOf(LF) + 1;
    for (const line of bytes.toString("utf8", 0, end).split("\n")) if (line !== "") this.#take(line);
    this.#offset += end;
    return size;
  }

  #read(size: number): Buffer {
    const pieces: Buffer[] = [];
    for (let at = this.#offset; at < size; ) {
      const piece = Buffer.alloc(Math.min(PIECE, size - at));
      const read = readSync(this.#file, piece, 0, piece.length, at);
      if (read === 0) break;
      pieces.push(piece.subarray(0, read));
      at += read;
    }
    return Buffer.concat(pieces);
  }

  #take(line: string): void {
    const read = readChannelLine(line);
    if (read === undefined) this.#options.onDamage(`A line of ${this.#options.path} cannot be read.`);
    else if ("session" in read) {
      // Of two processes that make the session of a task at once, the first has made it.
      if (!this.#sessions.has(read.session.id)) this.#sessions.set(read.session.id, read.session);
    } else {
      const known = this.#messages.get(read.message.session_id);
      if (known === undefined) this.#messages.set(read.message.session_id, [read.message]);
      else known.push(read.message);
    }
  }

  #assertFits(size: number): void {
    const { path, limit = LIMIT } = this.#options;
    if (size > limit)
      throw new Error(
        `${path} may have ${limit} bytes and would have ${size}. Move it away to start a new one.`,
      );
  }
}
