import { isUtf8 } from "node:buffer";
import type { Page, TurnPage } from "@flint/core/ports";
import { isEventType, type StoredEvent, type Turn } from "@flint/protocol";
import type { FileSystem } from "../file-system.ts";
import { invalidCursor } from "../listing/thread-list.ts";
import { isContentType } from "./fold.ts";
import { decodeLine, GLANCE_BYTES, type Glance, glance, LINE_END, MAX_RECORD } from "./record.ts";
import {
  type BackwardRecord,
  decodeTurnPlace,
  recordOf,
  TurnCollector,
  type TurnPlace,
} from "./turn-collector.ts";

/** A log that is open for reading, and how long it is. */
export interface OpenLog {
  readonly files: FileSystem;
  readonly file: number;
  readonly size: number;
}

/** A page of whole turns that ends at a cursor, or at the end of the log. Reads only that part of the log. */
export async function readTurnPage(log: OpenLog, page: TurnPage): Promise<Page<Turn>> {
  const place = page.cursor === undefined ? undefined : await placeIn(log, page.cursor);
  const collector = new TurnCollector(page.limit, place?.gone ?? [], place !== undefined);
  await walk(log, place?.end ?? log.size, collector, () => true);
  return collector.page();
}

/** The latest turn that still belongs to the conversation, whole. */
export async function readLatestTurn(log: OpenLog): Promise<Turn | undefined> {
  const collector = new TurnCollector(1, [], false);
  await walk(log, log.size, collector, () => collector.count === 0);
  return collector.page().data[0];
}

async function walk(log: OpenLog, end: number, collector: TurnCollector, more: () => boolean): Promise<void> {
  const lines = new BackwardLines(log.files, log.file, end);
  do {
    for (let line = lines.take(); line !== undefined && more(); line = lines.take()) {
      const record = backwardRecord(line);
      if (record !== undefined && !collector.add(record)) return;
    }
  } while (more() && (await lines.load()));
  if (more()) collector.end();
}

/**
 * The place of the first record that a reader who knows everything up to `afterSeq` has to read. It goes back until
 * two neighbours are both known, so that one damaged number does not end the search too early.
 */
export async function findPlaceAfter(
  log: OpenLog,
  afterSeq: number,
): Promise<{ offset: number; seq: number }> {
  const lines = new BackwardLines(log.files, log.file, log.size);
  let known = 0;
  do {
    for (let line = lines.take(); line !== undefined; line = lines.take()) {
      const seq = glanceAt(line.bytes)?.seq;
      if (seq === undefined) continue;
      known = seq <= afterSeq ? known + 1 : 0;
      if (known === 2) return { offset: line.position, seq: seq - 1 };
    }
  } while (await lines.load());
  return { offset: 0, seq: 0 };
}

function glanceAt(bytes: Buffer): Glance | undefined {
  return glance(bytes.toString("latin1", 0, GLANCE_BYTES));
}

/** A line as a record, parsed at once only if its start does not tell enough; undefined if it is unreadable. */
function backwardRecord({ position, bytes }: BackwardLine): BackwardRecord | undefined {
  const seen = glanceAt(bytes);
  if (seen !== undefined && isContentType(seen.type)) {
    if (seen.turnId !== undefined) return new LineRecord(position, seen, bytes);
  } else if (seen !== undefined && isEventType(seen.type)) {
    return new LineRecord(position, { ...seen, turnId: undefined }, bytes);
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

  constructor(position: number, { type, turnId, itemId }: Glance, bytes: Buffer) {
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

async function placeIn(log: OpenLog, cursor: string): Promise<TurnPlace> {
  const place = decodeTurnPlace(cursor, log.size);
  if (!(await isLineStart(log, place.end))) throw invalidCursor();
  return place;
}

/** Whether a line starts at this place. */
export async function isLineStart(log: OpenLog, offset: number): Promise<boolean> {
  if (offset === 0) return true;
  const before = Buffer.alloc(1);
  return (await log.files.read(log.file, before, offset - 1)) === 1 && before[0] === LINE_END;
}

const FIRST_CHUNK = 256 * 1024;
const LARGEST_CHUNK = 1024 * 1024;

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
