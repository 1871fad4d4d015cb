import type { FileSystem } from "../files/file-system.ts";
import { MAX_RECORD } from "./record.ts";

const FIRST_CHUNK = 256 * 1024;
const LARGEST_CHUNK = 1024 * 1024;
const LINE_END = 10;

/** A line of a file: where it starts, and its bytes without the line end. */
export interface BackwardLine {
  readonly position: number;
  readonly bytes: Buffer;
}

/** Reads the lines of a file from a place backwards, in chunks that grow, so that the end of a file is cheap. */
export class BackwardLines {
  readonly #files: FileSystem;
  readonly #file: number;
  /** The bytes of the file from `#start` on; those before `#left` are not handed out yet. */
  #window: Buffer = Buffer.alloc(0);
  #start: number;
  #left = 0;
  #chunk = FIRST_CHUNK;

  /** `end` is where the last line ends; a line end right before it belongs to that line. */
  constructor(files: FileSystem, file: number, end: number) {
    this.#files = files;
    this.#file = file;
    this.#start = end;
  }

  /** The line before, if it is read already. */
  take(): BackwardLine | undefined {
    const end = this.#left;
    if (end === 0) return undefined;
    // Its own line end does not start the line.
    const start = end < 2 ? 0 : this.#window.lastIndexOf(LINE_END, end - 2) + 1;
    if (start === 0 && this.#start > 0) return undefined;
    this.#left = start;
    const isEnded = this.#window[end - 1] === LINE_END;
    return { position: this.#start + start, bytes: this.#window.subarray(start, isEnded ? end - 1 : end) };
  }

  /** Reads more of the file. False at its start. Lines that are too long to be records are left out. */
  async load(): Promise<boolean> {
    if (this.#start === 0) return false;
    if (this.#left > MAX_RECORD) await this.#skipLine();
    else await this.#readMore();
    return true;
  }

  async #readMore(): Promise<void> {
    const size = Math.min(this.#start, Math.max(this.#chunk, this.#left));
    const window = Buffer.allocUnsafe(size + this.#left);
    this.#window.copy(window, size, 0, this.#left);
    await this.#fill(window.subarray(0, size), this.#start - size);
    this.#window = window;
    this.#start -= size;
    this.#left += size;
    this.#chunk = Math.min(this.#chunk * 2, LARGEST_CHUNK);
  }

  /** Forgets what is read of a line and goes to the end of the one before. */
  async #skipLine(): Promise<void> {
    do {
      this.#left = 0;
      await this.#readMore();
      this.#left = this.#window.lastIndexOf(LINE_END, this.#left - 1) + 1;
    } while (this.#left === 0 && this.#start > 0);
  }

  async #fill(bytes: Buffer, position: number): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const count = await this.#files.read(this.#file, bytes.subarray(done), position + done);
      // Only a file that is being cut by somebody else ends here; what is missing is then damage.
      if (count === 0) bytes.fill(0, done);
      done += count === 0 ? bytes.length : count;
    }
  }
}
