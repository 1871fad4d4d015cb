import { join } from "node:path";
import { emptyThread, FlintError, mintId, type StoredEvent, type Thread, type Turn } from "@flint/protocol";
import type {
  OpenedThread,
  Page,
  ReadThread,
  Store,
  ThreadQuery,
  ThreadWriter,
  TurnPage,
} from "../ports/store.ts";
import { type FileSystem, NODE_FILES } from "./file-system.ts";
import type { Lock } from "./lock.ts";
import { type LogEnd, LogWriter } from "./log-writer.ts";
import { MetaFile } from "./meta-file.ts";
import {
  closeRead,
  expectThreadFolder,
  makeFolder,
  makeFolders,
  OPEN,
  openPrivate,
  syncFolder,
} from "./private-files.ts";
import { encodeHeader, LOG_VERSION } from "./record.ts";
import { codeOf, storageFailed } from "./store-errors.ts";
import { SyncGroup } from "./sync-group.ts";
import { readTurnPage } from "./tail-pages.ts";
import { ThreadFolder } from "./thread-folder.ts";
import { type Description, removedName, ThreadIndex } from "./thread-index.ts";
import { type ListedThread, listedThread } from "./thread-list.ts";
import { readContents, readEvents, type ThreadContents, withLatestTurn } from "./thread-reader.ts";
import { JsonlWriter } from "./thread-writer.ts";

/** Where the threads are, and what a sync means. */
export interface JsonlStoreOptions {
  /** The folder of the store; it is made if it does not exist, and made private to its owner. */
  readonly root: string;
  /** `relaxed`: nothing is forced to the disk, so a power cut may cost the newest events. */
  readonly durability: "full" | "relaxed";
  readonly files?: FileSystem;
}

/** Keeps each thread in a folder of its own: an append-only log, a checkpoint, and the lock of its writer. */
export class JsonlStore implements Store {
  readonly #root: string;
  readonly #threads: string;
  readonly #files: FileSystem;
  readonly #isDurable: boolean;
  readonly #syncs: SyncGroup;
  readonly #index: ThreadIndex;
  readonly #writers = new Set<ThreadWriter>();
  /** Threads of this process that have no checkpoint yet, so they are not listed. */
  readonly #unlisted = new Set<string>();
  #ready: Promise<void> | undefined;

  constructor({ root, durability, files = NODE_FILES }: JsonlStoreOptions) {
    this.#root = root;
    this.#threads = join(root, "threads");
    this.#files = files;
    this.#isDurable = durability === "full";
    this.#syncs = new SyncGroup((path) => syncFolder(files, path));
    this.#index = new ThreadIndex({
      files,
      root,
      threads: this.#threads,
      describe: (threadId) => this.#describe(threadId),
    });
  }

  async create(threadId: string): Promise<ThreadWriter> {
    const folder = await this.#folder(threadId);
    try {
      await this.#makeThreadFolder(folder);
      const lock = await folder.lock();
      return await orElse(
        () => this.#createLocked(folder, lock),
        () => lock.release(),
      );
    } catch (error) {
      throw storageFailed(`Thread ${threadId} could not be made`, error, { threadId });
    }
  }

  async open(threadId: string): Promise<OpenedThread> {
    const folder = await this.#folder(threadId);
    const file = folder.openLog("append");
    try {
      return await orElse(
        () => this.#openFile(folder, file),
        async () => closeRead(this.#files, file),
      );
    } catch (error) {
      throw folder.failure("could not be opened", error);
    }
  }

  async *read(threadId: string, afterSeq = 0): AsyncGenerator<StoredEvent> {
    const folder = await this.#folder(threadId);
    try {
      yield* readEvents(this.#files, folder, afterSeq);
    } catch (error) {
      throw folder.failure("could not be read", error);
    }
  }

  async peek(threadId: string): Promise<ReadThread> {
    const { epoch, state, damage } = await this.#reading(threadId, (folder, file) =>
      this.#contents(folder, file),
    );
    return { epoch, state, damage };
  }

  async turns(threadId: string, page: TurnPage): Promise<Page<Turn>> {
    return this.#reading(threadId, async (_folder, file) => {
      const { size } = this.#files.fstatSync(file);
      return readTurnPage({ files: this.#files, file, size }, page);
    });
  }

  async list(query: ThreadQuery): Promise<Page<Thread>> {
    try {
      await this.#prepare();
      return await this.#index.page(query);
    } catch (error) {
      throw storageFailed("The threads could not be listed", error);
    }
  }

  async remove(threadId: string): Promise<void> {
    const folder = await this.#folder(threadId);
    try {
      expectThreadFolder(this.#files, folder.path, threadId);
      await this.#removeFolder(folder);
    } catch (error) {
      throw storageFailed(`Thread ${threadId} could not be deleted`, error, { threadId });
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#writers].map((writer) => writer.close()));
    await this.#index.close();
  }

  async #folder(threadId: string): Promise<ThreadFolder> {
    const folder = new ThreadFolder(this.#files, this.#threads, threadId);
    await this.#prepare();
    return folder;
  }

  /** Makes the folders of the store when it is first used, and again if that failed. */
  #prepare(): Promise<void> {
    this.#ready ??= this.#makeFolders().catch((error: unknown) => {
      this.#ready = undefined;
      throw storageFailed(`The store ${this.#root} could not be made`, error);
    });
    return this.#ready;
  }

  async #makeFolders(): Promise<void> {
    await makeFolders(this.#files, this.#root);
    await makeFolders(this.#files, this.#threads);
  }

  async #makeThreadFolder(folder: ThreadFolder): Promise<void> {
    try {
      await makeFolder(this.#files, folder.path);
    } catch (error) {
      // A crash may have left a folder without a log, which can be used; whether there is a log shows later.
      if (codeOf(error) !== "EEXIST") throw error;
      expectThreadFolder(this.#files, folder.path, folder.threadId);
    }
  }

  async #createLocked(folder: ThreadFolder, lock: Lock): Promise<ThreadWriter> {
    const file = await this.#createLog(folder);
    const createdAtMs = Date.now();
    const epoch = mintId();
    const newFolders = [folder.path, this.#threads, this.#root];
    const log = new LogWriter(this.#files, file, folder.threadId, NEW_LOG, newFolders);
    await orElse(
      async () => log.appendLine(encodeHeader(folder.threadId, { version: LOG_VERSION, epoch, createdAtMs })),
      async () => {
        closeRead(this.#files, file);
        await this.#files.removeTree(folder.path);
      },
    );
    this.#unlisted.add(folder.threadId);
    const times = { createdAtMs, updatedAtMs: createdAtMs };
    return this.#writer(folder, lock, file, log, { epoch, damage: { records: 0, missing: 0 }, times });
  }

  async #createLog(folder: ThreadFolder): Promise<number> {
    try {
      return openPrivate(this.#files, folder.logPath, OPEN.createLog);
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
      const { threadId } = folder;
      throw new FlintError("storageFailed", `Thread ${threadId} exists already.`, {
        threadId,
        code: "EEXIST",
      });
    }
  }

  async #openFile(folder: ThreadFolder, file: number): Promise<OpenedThread> {
    const lock = await folder.lock();
    return orElse(
      async () => {
        await folder.tidy();
        const contents = await this.#contents(folder, file);
        const { epoch, state, damage, end } = contents;
        const log = new LogWriter(this.#files, file, folder.threadId, end, []);
        return { epoch, state, damage, writer: this.#writer(folder, lock, file, log, contents) };
      },
      () => lock.release(),
    );
  }

  #writer(
    folder: ThreadFolder,
    lock: Lock,
    file: number,
    log: LogWriter,
    known: Pick<ThreadContents, "epoch" | "damage" | "times">,
  ): ThreadWriter {
    const { threadId, path } = folder;
    const sync = (): Promise<void> => (this.#isDurable ? this.#syncs.request(log) : Promise.resolve());
    const meta = new MetaFile(this.#files, path, threadId, undefined);
    const list = (entry: ListedThread): void => {
      this.#unlisted.delete(threadId);
      this.#index.record(entry);
    };
    const close = async (): Promise<void> => {
      this.#writers.delete(writer);
      this.#unlisted.delete(threadId);
      try {
        this.#files.closeSync(file);
      } catch (error) {
        throw folder.failure("could not be closed", error);
      }
    };
    const writer: ThreadWriter = new JsonlWriter({ threadId, ...known, log, meta, lock, sync, list, close });
    this.#writers.add(writer);
    return writer;
  }

  async #contents(folder: ThreadFolder, file: number): Promise<ThreadContents> {
    const contents = await readContents(this.#files, folder, file);
    const log = { files: this.#files, file, size: contents.end.size };
    return { ...contents, state: await withLatestTurn(log, contents.state) };
  }

  async #reading<Result>(
    threadId: string,
    action: (folder: ThreadFolder, file: number) => Promise<Result>,
  ): Promise<Result> {
    const folder = await this.#folder(threadId);
    const file = folder.openLog("read");
    try {
      return await action(folder, file);
    } catch (error) {
      throw folder.failure("could not be read", error);
    } finally {
      closeRead(this.#files, file);
    }
  }

  /** How a thread that the index does not know is listed. A log that was never used is not a thread yet. */
  async #describe(threadId: string): Promise<Description | undefined> {
    if (this.#unlisted.has(threadId)) return undefined;
    try {
      const { state, times, end, damage } = await this.#reading(threadId, (folder, file) =>
        readContents(this.#files, folder, file),
      );
      const isUnused = end.size === 0 || (end.seq === 0 && damage.records === 0);
      return isUnused ? undefined : { entry: listedThread(state, times), isCertain: true };
    } catch (error) {
      // No log, no thread. Any other thread is shown, so that opening it can tell what is wrong.
      if (error instanceof FlintError && error.kind === "threadNotFound") return undefined;
      return {
        entry: listedThread(emptyThread(threadId), { createdAtMs: 0, updatedAtMs: 0 }),
        isCertain: false,
      };
    }
  }

  async #removeFolder(folder: ThreadFolder): Promise<void> {
    const removed = join(this.#threads, removedName(folder.threadId));
    const lock = await folder.lock();
    try {
      // One step makes it gone; the rest may be interrupted and is finished when the threads are next listed.
      await this.#files.rename(folder.path, removed);
      this.#index.forget(folder.threadId);
      await this.#files.removeTree(removed);
      if (this.#isDurable) await syncFolder(this.#files, this.#threads);
    } finally {
      await lock.release();
    }
  }
}

const NEW_LOG: LogEnd = { seq: 0, size: 0, terminated: true };

/** The result of an action; if it fails, what it had to do with is given up first. */
async function orElse<Result>(action: () => Promise<Result>, giveUp: () => Promise<void>): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    // The first failure is the one to tell.
    await giveUp().catch(() => {});
    throw error;
  }
}
