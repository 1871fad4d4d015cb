import { join } from "node:path";
import type { ConcurrencyLimit } from "@flint/core/async";
import type { Damage } from "@flint/core/ports";
import { emptyThread, isRecord, type ThreadState, type Turn } from "@flint/protocol";
import { type FileSystem, readWhole, replaceFile } from "../file-system.ts";
import type { ThreadTimes } from "../log/fold.ts";
import { isThread, isThreadSettings, isTurn, MAX_RECORD, wellFormed } from "../log/record.ts";

const META_VERSION = 2;
const META_NAME = "meta.json";

/** The state of a thread at an offset of its log, so that what is before it need not be read again. */
export interface Checkpoint {
  readonly epoch: string;
  /** The number of the last record before `offset`. */
  readonly seq: number;
  /**
   * Number of bytes of the log that the state covers. It may cover more; records that it contains are
   * skipped.
   */
  readonly offset: number;
  readonly state: ThreadState;
  readonly damage: Damage;
  readonly times: ThreadTimes;
}

/** The checkpoint of a thread, or undefined if there is none that can be used. Never throws. */
export async function readCheckpoint(
  files: FileSystem,
  folder: string,
  threadId: string,
): Promise<Checkpoint | undefined> {
  try {
    const bytes = await readWhole(files, join(folder, META_NAME), 4 * MAX_RECORD);
    return bytes === undefined ? undefined : decode(JSON.parse(bytes.toString("utf8")), threadId);
  } catch {
    // Missing, unreadable or damaged: the log has the same information.
    return undefined;
  }
}

function decode(meta: unknown, threadId: string): Checkpoint | undefined {
  if (!isRecord(meta) || meta.version !== META_VERSION || meta.threadId !== threadId) return undefined;
  const { epoch, seq, offset, state, damage, createdAtMs, updatedAtMs } = meta;
  if (typeof epoch !== "string" || !isCount(seq) || !isCount(offset)) return undefined;
  if (typeof createdAtMs !== "number" || typeof updatedAtMs !== "number") return undefined;
  if (!isRecord(damage) || !isCount(damage.records) || !isCount(damage.missing)) return undefined;
  if (!isThreadState(state, threadId)) return undefined;
  return {
    epoch,
    seq,
    offset,
    state: { ...emptyThread(threadId), ...state },
    damage: { records: damage.records, missing: damage.missing },
    times: { createdAtMs, updatedAtMs },
  };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/**
 * Reports whether each field has the same kind of value as in an empty thread, and the important ones match
 * their schema.
 */
function isThreadState(value: unknown, threadId: string): value is ThreadState {
  if (!isRecord(value) || !isThread(value.thread) || !isThreadSettings(value.settings)) return false;
  if (!Array.isArray(value.turns) || !value.turns.every(isTurn)) return false;
  return Object.entries(emptyThread(threadId)).every(
    ([name, empty]) => empty === undefined || kindOf(value[name]) === kindOf(empty),
  );
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "list" : typeof value;
}

/** Writes the checkpoints of a thread to its folder. */
export class MetaFile {
  readonly #files: FileSystem;
  readonly #folder: string;
  readonly #threadId: string;
  /** Shared by the threads of a store, which must not all write at once. */
  readonly #slots: ConcurrencyLimit;
  /** Syncs the log, so that no checkpoint covers more than the log on the disk. Absent if nothing is synced. */
  readonly #syncLog: (() => Promise<void>) | undefined;
  #waiting: Checkpoint | undefined;
  #working: Promise<void> | undefined;

  constructor(
    files: FileSystem,
    folder: string,
    threadId: string,
    syncLog: (() => Promise<void>) | undefined,
    slots: ConcurrencyLimit,
  ) {
    this.#files = files;
    this.#folder = folder;
    this.#threadId = threadId;
    this.#syncLog = syncLog;
    this.#slots = slots;
  }

  /** Writes a checkpoint in the background, in place of one that still waits. If it fails, the old one stays. */
  save(checkpoint: Checkpoint): void {
    this.#waiting = checkpoint;
    this.#working ??= this.#work();
  }

  /** Resolves when all writes are done. */
  async idle(): Promise<void> {
    await this.#working;
  }

  async #work(): Promise<void> {
    for (let next = this.#waiting; next !== undefined; next = this.#waiting) {
      this.#waiting = undefined;
      try {
        await this.#write(next);
      } catch {
        // The old checkpoint is still there, and the log has everything; the next checkpoint tries again.
      }
    }
    this.#working = undefined;
  }

  async #write(checkpoint: Checkpoint): Promise<void> {
    await this.#syncLog?.();
    const bytes = Buffer.from(this.#encode(checkpoint), "utf8");
    const target = join(this.#folder, META_NAME);
    const durable = this.#syncLog !== undefined;
    await this.#slots.run(() => replaceFile(this.#files, target, bytes, durable));
  }

  #encode({ epoch, seq, offset, state, damage, times }: Checkpoint): string {
    const meta = {
      version: META_VERSION,
      threadId: this.#threadId,
      epoch,
      seq,
      offset,
      damage,
      ...times,
      state: { ...state, turns: state.turns.slice(-1).map(withoutItems) },
    };
    return `${wellFormed(JSON.stringify(meta))}\n`;
  }
}

/** Items are read from the end of the log when needed. */
function withoutItems(turn: Turn): Turn {
  return { ...turn, items: [], itemsView: "notLoaded" };
}
