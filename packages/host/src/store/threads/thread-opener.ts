import { ConcurrencyLimit } from "@flint/core/async";
import { codeOf, type OpenedThread, storageFailed, type ThreadWriter } from "@flint/core/ports";
import { FlintError, mintId } from "@flint/protocol";
import {
  assertThreadFolder,
  closeQuietly,
  type FileSystem,
  makeFolder,
  OPEN,
  openPrivate,
  syncFolder,
} from "../file-system.ts";
import type { ListedThread } from "../listing/thread-list.ts";
import { LogFile, LogFiles } from "../log/log-files.ts";
import { type LogEnd, LogWriter, SyncGroup } from "../log/log-writer.ts";
import { encodeHeader, LOG_VERSION } from "../log/record.ts";
import { MetaFile } from "./meta-file.ts";
import type { ThreadFolder } from "./thread-folder.ts";
import type { ThreadLock, ThreadLocks } from "./thread-locks.ts";
import { readWithLatestTurn, type ThreadContents } from "./thread-reader.ts";
import { JsonlWriter, withCleanup } from "./thread-writer.ts";

const CONCURRENT_CHECKPOINTS = 8;

const NEW_LOG: LogEnd = { seq: 0, size: 0, terminated: true };

/** Dependencies of opening threads on the store. */
export interface ThreadOpenerOptions {
  readonly files: FileSystem;
  readonly locks: ThreadLocks;
  /** True if logs are synced to the disk. */
  readonly isDurable: boolean;
  /** The parents of the thread folders, which are synced with a new thread. */
  readonly foldersAbove: readonly string[];
  /** Updates the list entry of a thread. Never throws. */
  list(entry: ListedThread): void;
}

/** Opens threads for writing, and tracks those that are open in this process. */
export class ThreadOpener {
  readonly #options: ThreadOpenerOptions;
  readonly #files: FileSystem;
  readonly #syncs: SyncGroup;
  readonly #logs = new LogFiles();
  readonly #checkpointSlots = new ConcurrencyLimit(CONCURRENT_CHECKPOINTS);
  readonly #writers = new Set<ThreadWriter>();
  /** Threads that are not listed, because they have no checkpoint yet. */
  readonly #unlisted = new Set<string>();

  constructor(store: ThreadOpenerOptions) {
    this.#options = store;
    this.#files = store.files;
    this.#syncs = new SyncGroup((path) => syncFolder(store.files, path));
  }

  /** Reports whether a thread is new and must not be listed yet. */
  isUnlisted(threadId: string): boolean {
    return this.#unlisted.has(threadId);
  }

  async create(folder: ThreadFolder): Promise<ThreadWriter> {
    const { threadId } = folder;
    try {
      const { locks } = this.#options;
      const isNew = await this.#makeFolder(folder);
      const lock = folder.expectLock(
        await (isNew ? locks.acquireNew(folder.path) : locks.acquire(folder.path)),
      );
      return await withCleanup(
        () => this.#createLocked(folder, lock),
        async () => lock.release(),
      );
    } catch (error) {
      throw storageFailed(`Thread ${threadId} could not be created`, error, { threadId });
    }
  }

  async open(folder: ThreadFolder): Promise<OpenedThread> {
    try {
      folder.expectLog();
      const lock = folder.expectLock(await this.#options.locks.acquire(folder.path));
      return await withCleanup(
        () => this.#openLocked(folder, lock),
        async () => lock.release(),
      );
    } catch (error) {
      throw folder.failure("could not be opened", error);
    }
  }

  /** Closes all threads; rejects with the first failure after all are closed. */
  async close(): Promise<void> {
    const closings = await Promise.allSettled([...this.#writers].map((writer) => writer.close()));
    for (const closing of closings) if (closing.status === "rejected") throw closing.reason;
  }

  /** False if there was a folder already. */
  async #makeFolder(folder: ThreadFolder): Promise<boolean> {
    try {
      await makeFolder(this.#files, folder.path);
      return true;
    } catch (error) {
      // A crash may have left a folder without a log, which can be used; an existing log fails later.
      if (codeOf(error) !== "EEXIST") throw error;
      assertThreadFolder(this.#files, folder.path, folder.threadId);
      return false;
    }
  }

  async #createLocked(folder: ThreadFolder, lock: ThreadLock): Promise<ThreadWriter> {
    const file = this.#logFile(folder, this.#createLog(folder));
    const createdAtMs = Date.now();
    const epoch = mintId();
    const newFolders = [folder.path, ...this.#options.foldersAbove];
    const log = new LogWriter(this.#files, file, folder.threadId, NEW_LOG, newFolders);
    await withCleanup(
      async () => log.appendLine(encodeHeader(folder.threadId, { version: LOG_VERSION, epoch, createdAtMs })),
      async () => {
        file.close();
        await this.#files.removeTree(folder.path);
      },
    );
    this.#unlisted.add(folder.threadId);
    const times = { createdAtMs, updatedAtMs: createdAtMs };
    return this.#writer(folder, lock, file, log, { epoch, damage: { records: 0, missing: 0 }, times });
  }

  #createLog({ logPath, threadId }: ThreadFolder): number {
    try {
      return openPrivate(this.#files, logPath, OPEN.createLog);
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
      const data = { threadId, code: "EEXIST" };
      throw new FlintError("storageFailed", `Thread ${threadId} exists already.`, data, { cause: error });
    }
  }

  #logFile({ logPath }: ThreadFolder, descriptor: number): LogFile {
    return new LogFile(this.#files, this.#logs, logPath, descriptor);
  }

  async #openLocked(folder: ThreadFolder, lock: ThreadLock): Promise<OpenedThread> {
    const descriptor = folder.appendLog();
    return withCleanup(
      async () => {
        await folder.tidy();
        const contents = await readWithLatestTurn(this.#files, folder, descriptor);
        const { epoch, state, damage, end } = contents;
        const file = this.#logFile(folder, descriptor);
        const log = new LogWriter(this.#files, file, folder.threadId, end, []);
        return { epoch, state, damage, writer: this.#writer(folder, lock, file, log, contents) };
      },
      async () => closeQuietly(this.#files, descriptor),
    );
  }

  #writer(
    folder: ThreadFolder,
    lock: ThreadLock,
    file: LogFile,
    log: LogWriter,
    known: Pick<ThreadContents, "epoch" | "damage" | "times">,
  ): ThreadWriter {
    const { threadId, path } = folder;
    const { isDurable } = this.#options;
    const sync = (): Promise<void> => (isDurable ? this.#syncs.request(log) : Promise.resolve());
    const meta = new MetaFile(
      this.#files,
      path,
      threadId,
      isDurable ? sync : undefined,
      this.#checkpointSlots,
    );
    const list = (entry: ListedThread): void => {
      this.#unlisted.delete(threadId);
      this.#options.list(entry);
    };
    const close = (): void => {
      this.#writers.delete(writer);
      this.#unlisted.delete(threadId);
      this.#closeLog(folder, file);
    };
    const writer: ThreadWriter = new JsonlWriter({ threadId, ...known, log, meta, lock, sync, list, close });
    this.#writers.add(writer);
    return writer;
  }

  #closeLog(folder: ThreadFolder, file: LogFile): void {
    try {
      file.close();
    } catch (error) {
      throw folder.failure("could not be closed", error);
    }
  }
}
