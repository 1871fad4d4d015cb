import type { EventBody, StoredEvent, Thread, ThreadState, Turn } from "@flint/protocol";

/** Where threads are kept. Methods reject with a FlintError: `threadNotFound`, `threadLocked`, `storageFailed`. */
export interface Store {
  /** Makes a new, empty log and holds its writer lock. The thread is listed from its first checkpoint on. */
  create(threadId: string): Promise<ThreadWriter>;
  /** Takes the writer lock of a stored thread and reads its present state. Never changes what is in the log. */
  open(threadId: string): Promise<OpenedThread>;
  /** The intact events after a place, oldest first, without taking the lock. */
  read(threadId: string, afterSeq?: number): AsyncIterable<StoredEvent>;
  /** The state of a thread without taking the lock. */
  peek(threadId: string): Promise<ReadThread>;
  /** Whole turns from the newest backwards; each page in order. The cost does not grow with the length of the log. */
  turns(threadId: string, page: TurnPage): Promise<Page<Turn>>;
  list(query: ThreadQuery): Promise<Page<Thread>>;
  /** Deletes a thread for good. The caller holds no writer of it any more. */
  remove(threadId: string): Promise<void>;
  close(): Promise<void>;
}

/** What a log tells when it is read. `state.turns` holds only the latest turn, whole. */
export interface ReadThread {
  readonly epoch: string;
  readonly state: ThreadState;
  readonly damage: Damage;
}

/** A thread opened for writing. */
export interface OpenedThread extends ReadThread {
  readonly writer: ThreadWriter;
}

/** What could not be read in a log. Everything else in it is intact. */
export interface Damage {
  /** Records that are not readable. */
  readonly records: number;
  /** Numbers missing from the sequence. */
  readonly missing: number;
}

/** The single writer of one thread. */
export interface ThreadWriter {
  readonly epoch: string;
  /**
   * Writes events in one piece and gives them their numbers; they survive the end of this process when it returns.
   * Throws `storageFailed` if that is not possible; then none of them counts, and a later try starts on a fresh line.
   */
  append(bodies: readonly EventBody[], at: number): readonly StoredEvent[];
  /** Resolves when all that was appended survives a power cut. Many threads share the work. */
  sync(): Promise<void>;
  /** Remembers the state so that lists are right and the next opening need not read everything. Never throws. */
  checkpoint(state: ThreadState): void;
  /** Gives up the lock after what was begun is written. */
  close(): Promise<void>;
}

/** A page of a list. */
export interface Page<Row> {
  readonly data: readonly Row[];
  readonly nextCursor: string | undefined;
}

/** Which turns are wanted. */
export interface TurnPage {
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** Which threads are wanted, and in which order. */
export interface ThreadQuery {
  readonly cursor: string | undefined;
  readonly limit: number;
  readonly archived: boolean;
  readonly searchTerm: string | undefined;
  readonly cwd: string | undefined;
  readonly sortKey: "createdAt" | "updatedAt";
  readonly sortDirection: "asc" | "desc";
}
