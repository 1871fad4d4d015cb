import { isUtf8 } from "node:buffer";
import type { Page, TurnPage } from "@flint/core/ports";
import { isEventType, type StoredEvent, type Turn } from "@flint/protocol";
import type { FileSystem } from "../file-system.ts";
import { invalidCursor } from "../listing/thread-list.ts";
import { isContentType } from "./fold.ts";
import { decodeLine, LINE_END, MAX_RECORD, PREFIX_BYTES, parsePrefix, type RecordPrefix } from "./record.ts";
import {
  type BackwardRecord,
  decodeTurnCursor,
  recordOf,
  TurnCollector,
  type TurnCursor,
} from "./turn-collector.ts";

/** A log that is open for reading, with its size. */
export interface OpenLog {
  readonly files: FileSystem;
  readonly file: number;
  readonly size: number;
}

/** A page of whole turns that ends at a cursor, or at the end of the log. Reads only that part of the log. */
export async function readTurnPage(log: OpenLog, page: TurnPage): Promise<Page<Turn>> {
  const cursor = page.cursor === undefined ? undefined : await resolveCursor(log, page.cursor);
  const collector = new TurnCollector(page.limit, cursor?.gone ?? [], cursor !== undefined);
  await walk(log, cursor?.end ?? log.size, collector, () => true);
  return collector.page();
}

/** The latest turn that still belongs to the conversation, whole. */
export async function readLatestTurn(log: OpenLog): Promise<Turn | undefined> {
  const collector = new TurnCollector(1, [], false);
  await walk(log, log.size, collector, () => collector.count === 0);
  return collector.page().data[0];
}

async function walk(log: OpenLog, end: number, collector: TurnCollector, more: () => boolean): Promise<void> {
  const lines = new BackwardLineReader(log.files, log.file, end);
  do {
    for (let line = lines.take(); line !== undefined && more(); line = lines.take()) {
      const record = backwardRecord(line);
      if (record !== undefined && !collector.add(record)) return;
    }
  } while (more() && (await lines.load()));
  if (more()) collector.end();
}

/**
 * The offset from which to read the records after `afterSeq`. Searches backwards until two adjacent records have lower
 * numbers, so that one damaged number does not end the search too early.
 */
export async function findPositionAfter(
  log: OpenLog,
  afterSeq: number,
): Promise<{ offset: number; seq: number }> {
  const lines = new BackwardLineReader(log.files, log.file, log.size);
  let known = 0;
  do {
    for (let line = lines.take(); line !== undefined; line = lines.take()) {
      const seq = prefixOf(line.bytes)?.seq;
      if (seq === undefined) continue;
      known = seq <= afterSeq ? known + 1 : 0;
      if (known === 2) return { offset: line.position, seq: seq - 1 };
    }
  } while (await lines.load());
  return { offset: 0, seq: 0 };
}

function prefixOf(bytes: Buffer): RecordPrefix | undefined {
  return parsePrefix(bytes.toString("latin1", 0, PREFIX_BYTES));
}

/** A line as a record, parsed only if its prefix is not enough; undefined if it is unreadable. */
function backwardRecord({ position, bytes }: BackwardLine): BackwardRecord | undefined {
  const prefix = prefixOf(bytes);
  if (prefix !== undefined && isContentType(prefix.type)) {
    if (prefix.turnId !== undefined) return new LineRecord(position, prefix, bytes);
  } else if (prefix !== undefined && isEventType(prefix.type)) {
    return new LineRecord(position, { ...prefix, turnId: undefined }, bytes);
  }
  const event = parse(bytes);
  return event === undefined ? undefined : recordOf(event, position);
}

class LineRecord implements BackwardRecord {
  readonly position: number;
  readonly type: string;
  readonly turnId: string | undefined;
  readonly itemId: string | undefined;
  readonly #bytes: Buffer;

  constructor(position: number, { type, turnId, itemId }: RecordPrefix, bytes: Buffer) {
    this.position = position;
    this.type = type;
    this.turnId = turnId;
    this.itemId = itemId;
    this.#bytes = bytes;
  }

  event(): StoredEvent | undefined {
    return parse(this.#bytes);
  }
}

function parse(bytes: Buffer): StoredEvent | undefined {
  if (!isUtf8(bytes)) return undefined;
  const line = decodeLine(bytes.toString("utf8"));
  return line.kind === "event" ? line.event : undefined;
}

async function resolveCursor(log: OpenLog, cursor: string): Promise<TurnCursor> {
  const decoded = decodeTurnCursor(cursor, log.size);
  if (!(await isLineStart(log, decoded.end))) throw invalidCursor();
  return decoded;
}

/** Reports whether a line starts at this offset. */
export async function isLineStart(log: OpenLog, offset: number): Promise<boolean> {
  if (offset === 0) return true;
  const before = Buffer.alloc(1);
  return (await log.files.read(log.file, before, offset - 1)) === 1 && before[0] === LINE_END;
}

const FIRST_CHUNK = 256 * 1024;
const LARGEST_CHUNK = 1024 * 1024;

/** A line of a file: its offset, and its bytes without the line end. */
export interface BackwardLine {
  readonly position: number;
  readonly bytes: Buffer;
}

/** Reads the lines of a file backwards, in growing chunks, so that reading the end of a file is cheap. */
export class BackwardLineReader {
  readonly #files: FileSystem;
  readonly #file: number;
  /** The bytes of the file from `#start` on; those before `#left` were not returned yet. */
  #window: Buffer = Buffer.alloc(0);
  #start: number;
  #left = 0;
  #chunk = FIRST_CHUNK;

  /** `end` is the end of the last line, including its line end. */
  constructor(files: FileSystem, file: number, end: number) {
    this.#files = files;
    this.#file = file;
    this.#start = end;
  }

  /** The previous line, if it is loaded. */
  take(): BackwardLine | undefined {
    const end = this.#left;
    if (end === 0) return undefined;
    // Skips its own line end.
    const start = end < 2 ? 0 : this.#window.lastIndexOf(LINE_END, end - 2) + 1;
    if (start === 0 && this.#start > 0) return undefined;
    this.#left = start;
    const isEnded = this.#window[end - 1] === LINE_END;
    return { position: this.#start + start, bytes: this.#window.subarray(start, isEnded ? end - 1 : end) };
  }

  /** Loads more of the file. False at its start. Lines that are too long to be records are skipped. */
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

  /** Drops what was loaded of a line and continues at the end of the previous one. */
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
      // Only if another program truncates the file; what is missing is then damage.
      if (count === 0) bytes.fill(0, done);
      done += count === 0 ? bytes.length : count;
    }
  }
}
