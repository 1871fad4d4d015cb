import { isUtf8 } from "node:buffer";
import type { Page, TurnPage } from "@flint/core/ports";
import { isEventType, type StoredEvent, type Turn } from "@flint/protocol";
import type { FileSystem } from "../files/file-system.ts";
import { invalidCursor } from "../listing/cursor.ts";
import { type BackwardLine, BackwardLines } from "../log/backward-lines.ts";
import { decodeLine, GLANCE_BYTES, type Glance, glance } from "../log/record.ts";
import {
  type BackwardRecord,
  decodeTurnPlace,
  recordOf,
  TurnCollector,
  type TurnPlace,
} from "./turn-collector.ts";
import { isContentType } from "./turn-content.ts";

const LINE_END = 10;

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
