import {
  type ErrorData,
  type EventBody,
  errorMessage,
  FlintError,
  isId,
  type StoredEvent,
  type Thread,
  type ThreadState,
  type Turn,
} from "@flint/protocol";

/** Stores threads. Methods reject with a FlintError: `threadNotFound`, `threadLocked`, `storageFailed`. */
export interface Store {
  /** Creates an empty log and takes its writer lock. The thread is listed from its first checkpoint on. */
  create(threadId: string): Promise<ThreadWriter>;
  /** Takes the writer lock of a stored thread and reads its state. Never changes what is in the log. */
  open(threadId: string): Promise<OpenedThread>;
  /** The intact events after a position, oldest first, without taking the lock. */
  read(threadId: string, afterSeq?: number): AsyncIterable<StoredEvent>;
  /** The state of a thread without taking the lock. */
  peek(threadId: string): Promise<ReadThread>;
  /** Whole turns from the newest backwards; each page in order. The cost does not grow with the length of the log. */
  turns(threadId: string, page: TurnPage): Promise<Page<Turn>>;
  list(query: ThreadQuery): Promise<Page<Thread>>;
  /** Deletes a thread for good. The caller must have closed its writer. */
  remove(threadId: string): Promise<void>;
  close(): Promise<void>;
}

/** The content of a log. `state.turns` holds only the latest turn, with all its items. */
export interface ReadThread {
  readonly epoch: string;
  readonly state: ThreadState;
  readonly damage: Damage;
}

/** A thread opened for writing. */
export interface OpenedThread extends ReadThread {
  readonly writer: ThreadWriter;
}

/** The parts of a log that could not be read. Everything else in it is intact. */
export interface Damage {
  /** Unreadable records. */
  readonly records: number;
  /** Numbers missing from the sequence. */
  readonly missing: number;
}

/** The single writer of one thread. */
export interface ThreadWriter {
  readonly epoch: string;
  /**
   * Writes events in one piece and numbers them; they survive the end of this process when it returns. Throws
   * `storageFailed` if that is not possible; then none of them counts, and the next attempt starts on a new line.
   */
  append(bodies: readonly EventBody[], at: number): readonly StoredEvent[];
  /** Resolves when everything appended so far survives a power failure. Many threads share the work. */
  sync(): Promise<void>;
  /** Saves the state, for lists and to make the next opening fast. Never throws. */
  checkpoint(state: ThreadState): void;
  /** Releases the lock after pending writes are done. */
  close(): Promise<void>;
}

/** A page of a list. */
export interface Page<Row> {
  readonly data: readonly Row[];
  readonly nextCursor: string | undefined;
}

/** A request for a page of turns. */
export interface TurnPage {
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** A query for threads, with the order. */
export interface ThreadQuery {
  readonly cursor: string | undefined;
  readonly limit: number;
  readonly archived: boolean;
  readonly searchTerm: string | undefined;
  readonly cwd: string | undefined;
  /** Only the threads of tasks, or only the others. */
  readonly ofTasks?: boolean | undefined;
  /** Only the thread that was started with this `clientId`. */
  readonly clientId?: string | undefined;
  readonly sortKey: "createdAt" | "updatedAt";
  readonly sortDirection: "asc" | "desc";
}

/** Meanings of error codes for the user, with the way out. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ["ENOSPC", "the disk is full. Free some space and try again."],
  ["EDQUOT", "your quota of disk space is used up. Free some space and try again."],
  ["EROFS", "the file system is read-only. Mount it writable, or choose another state folder."],
  ["EACCES", "permission is denied. Check who owns the state folder."],
  ["EPERM", "permission is denied. Check who owns the state folder."],
  ["EMFILE", "too many files are open. Close some threads or raise `ulimit -n`."],
  ["ENFILE", "too many files are open on this machine. Close some programs."],
  ["EIO", "the disk reports an error. Check its health and make a backup."],
  ["ELOOP", "it is a symlink. Replace it with a regular file."],
]);

/** The errno of a failed system call, or undefined. */
export function codeOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !("code" in thrown)) return undefined;
  return typeof thrown.code === "string" ? thrown.code : undefined;
}

/** The error of a failed store operation, with `data.code`. A FlintError is returned unchanged. */
export function storageFailed(what: string, thrown: unknown, data: ErrorData = {}): FlintError {
  if (thrown instanceof FlintError) return thrown;
  const code = codeOf(thrown) ?? "UNKNOWN";
  const plain = errorMessage(thrown);
  const reason = REASONS.get(code) ?? `${plain}.`;
  return new FlintError("storageFailed", `${what}: ${reason}`, { code, ...data }, { cause: thrown });
}

/** The error for an unknown thread. */
export function threadNotFound(threadId: string): FlintError {
  return new FlintError("threadNotFound", `There is no thread ${threadId}.`, { threadId });
}

/** Throws `invalidParams` for an id that must not become part of a path. */
export function checkThreadId(threadId: string): void {
  if (isId(threadId)) return;
  const shown = JSON.stringify(threadId.slice(0, 80));
  throw new FlintError(
    "invalidParams",
    `${shown} is not a thread id: an id is 1 to 64 letters, digits, "_" or "-".`,
    { field: "threadId" },
  );
}

/** The error for a writer that is used after it was closed. */
export function closedWriter(threadId: string): FlintError {
  const message = `The writer of thread ${threadId} is closed; open the thread again.`;
  return new FlintError("storageFailed", message, { threadId, code: "CLOSED" });
}
