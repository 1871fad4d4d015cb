import type { Damage } from "@flint/core/ports";
import { emptyThread, FlintError, type StoredEvent, type ThreadState } from "@flint/protocol";
import { closeQuietly, type FileSystem } from "../file-system.ts";
import { LogFold, type ThreadTimes } from "../log/fold.ts";
import { LogReader, Sequence } from "../log/log-reader.ts";
import type { LogEnd } from "../log/log-writer.ts";
import { decodeLine, LOG_VERSION, type LogHeader } from "../log/record.ts";
import { findPositionAfter, isLineStart, type OpenLog, readLatestTurn } from "../log/turn-pages.ts";
import { type Checkpoint, readCheckpoint } from "./meta-file.ts";
import type { ThreadFolder } from "./thread-folder.ts";

const HEADER_BYTES = 4096;
const NO_DAMAGE: Damage = { records: 0, missing: 0 };

/** The content of a log and its checkpoint. */
export interface ThreadContents {
  readonly epoch: string;
  readonly state: ThreadState;
  readonly damage: Damage;
  readonly times: ThreadTimes;
  readonly end: LogEnd;
}

/**
 * Reads a thread from its checkpoint on if it matches the log, otherwise from the start. The latest turn may lack its
 * items; see `readWithLatestTurn`.
 */
export async function readContents(
  files: FileSystem,
  folder: ThreadFolder,
  file: number,
): Promise<ThreadContents> {
  // The checkpoint first: the log only grows, so it then has at least what the checkpoint covers.
  const checkpoint = await readCheckpoint(files, folder.path, folder.threadId);
  const { size, birthtimeMs } = files.fstatSync(file);
  const log: OpenLog = { files, file, size };
  const header = await readHeader(log, folder.threadId);
  const isUsable = checkpoint !== undefined && (await matches(checkpoint, log, header));
  const tail = isUsable ? await foldTail(log, folder.threadId, checkpoint) : undefined;
  const createdAtMs = header?.createdAtMs ?? Math.floor(birthtimeMs);
  return tail ?? (await foldWhole(log, folder.threadId, checkpoint, createdAtMs));
}

/** The intact events after a number, oldest first. */
export async function* readEvents(
  files: FileSystem,
  folder: ThreadFolder,
  afterSeq: number,
): AsyncGenerator<StoredEvent> {
  const { file, stats } = folder.readLog();
  try {
    const log: OpenLog = { files, file, size: stats.size };
    await readHeader(log, folder.threadId);
    const start = afterSeq > 0 ? await findPositionAfter(log, afterSeq) : { offset: 0, seq: 0 };
    const reader = new LogReader(files, file, new Sequence(start.seq), start.offset);
    for await (const batch of reader.batches()) {
      for (const event of batch) if (event.seq > afterSeq) yield event;
    }
  } finally {
    closeQuietly(files, file);
  }
}

/** The header, or undefined if it is unreadable. Throws for a log of a later version. */
async function readHeader(log: OpenLog, threadId: string): Promise<LogHeader | undefined> {
  const bytes = Buffer.alloc(HEADER_BYTES);
  const count = await log.files.read(log.file, bytes, 0);
  const end = bytes.subarray(0, count).indexOf("\n");
  const line = end === -1 ? undefined : decodeLine(bytes.toString("utf8", 0, end));
  if (line?.kind !== "header") return undefined;
  const { version } = line.header;
  if (version <= LOG_VERSION) return line.header;
  const message = `The log of thread ${threadId} has format ${version}, and this Flint reads up to format ${LOG_VERSION}; use a newer Flint for it.`;
  throw new FlintError("storageFailed", message, { threadId, version, supported: LOG_VERSION });
}

async function matches(
  checkpoint: Checkpoint,
  log: OpenLog,
  header: LogHeader | undefined,
): Promise<boolean> {
  const { epoch, offset } = checkpoint;
  return header?.epoch === epoch && offset > 0 && offset <= log.size && (await isLineStart(log, offset));
}

/** Folds the log from a checkpoint on; undefined if the records after it do not continue its numbers. */
async function foldTail(
  log: OpenLog,
  threadId: string,
  checkpoint: Checkpoint,
): Promise<ThreadContents | undefined> {
  const fold = new LogFold(checkpoint.state, checkpoint.times);
  const sequence = new Sequence(checkpoint.seq);
  const reader = new LogReader(log.files, log.file, sequence, checkpoint.offset);
  const damage = await foldAll(reader, sequence, fold, checkpoint.damage);
  if (reader.firstSeq !== undefined && reader.firstSeq <= checkpoint.seq) return undefined;
  return contents(threadId, checkpoint.epoch, reader, sequence, fold, damage);
}

/** Folds the whole log. An older checkpoint is used only where the log has lost the beginning of the thread. */
async function foldWhole(
  log: OpenLog,
  threadId: string,
  checkpoint: Checkpoint | undefined,
  createdAtMs: number,
): Promise<ThreadContents> {
  const times = checkpoint?.times ?? { createdAtMs, updatedAtMs: createdAtMs };
  const fold = new LogFold(initialState(threadId, checkpoint, createdAtMs), times);
  const sequence = new Sequence(0);
  const reader = new LogReader(log.files, log.file, sequence, 0);
  const read = await foldAll(reader, sequence, fold, NO_DAMAGE);
  const damage = reader.lacksHeader ? { ...read, records: read.records + 1 } : read;
  const epoch = reader.header?.epoch ?? checkpoint?.epoch ?? `recovered-${threadId}`;
  return contents(threadId, epoch, reader, sequence, fold, damage);
}

function initialState(
  threadId: string,
  checkpoint: Checkpoint | undefined,
  createdAtMs: number,
): ThreadState {
  const empty = emptyThread(threadId);
  if (checkpoint !== undefined) {
    return { ...empty, thread: checkpoint.state.thread, settings: checkpoint.state.settings };
  }
  const seconds = Math.floor(createdAtMs / 1000);
  return { ...empty, thread: { ...empty.thread, createdAt: seconds, updatedAt: seconds } };
}

async function foldAll(
  reader: LogReader,
  sequence: Sequence,
  fold: LogFold,
  before: Damage,
): Promise<Damage> {
  for await (const batch of reader.batches()) {
    const damaged = hasDamage(before) || hasDamage(sequence.damage);
    for (const event of batch) fold.add(event, damaged);
  }
  const { records, missing } = sequence.damage;
  return { records: before.records + records + fold.rejected, missing: before.missing + missing };
}

function hasDamage({ records, missing }: Damage): boolean {
  return records + missing > 0;
}

function contents(
  threadId: string,
  epoch: string,
  reader: LogReader,
  sequence: Sequence,
  fold: LogFold,
  damage: Damage,
): ThreadContents {
  const { terminated, size } = reader;
  const seq = Math.max(sequence.last + reader.trailing, fold.state.seq);
  const state = { ...fold.state, thread: { ...fold.state.thread, id: threadId } };
  return { epoch, state, damage, times: fold.times, end: { seq, size, terminated } };
}

/** Like `readContents`, with all items of the latest turn. */
export async function readWithLatestTurn(
  files: FileSystem,
  folder: ThreadFolder,
  file: number,
): Promise<ThreadContents> {
  const contents = await readContents(files, folder, file);
  const state = await withLatestTurn({ files, file, size: contents.end.size }, contents.state);
  return { ...contents, state };
}

/** The state with all items of its latest turn. A turn that was reverted since is not the latest one any more. */
async function withLatestTurn(log: OpenLog, state: ThreadState): Promise<ThreadState> {
  const known = state.turns.at(-1);
  const latest = await readLatestTurn(log);
  if (latest === undefined) return state;
  if (known === undefined) return { ...state, turns: [latest] };
  const { items, itemsView } = latest;
  return known.id === latest.id ? { ...state, turns: [{ ...known, items, itemsView }] } : state;
}
