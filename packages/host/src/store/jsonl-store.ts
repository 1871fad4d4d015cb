import { join, resolve } from "node:path";
import { ConcurrencyLimit } from "@flint/core/async";
import {
  type OpenedThread,
  type Page,
  type ReadThread,
  type Store,
  storageFailed,
  type ThreadQuery,
  type ThreadWriter,
  type TurnPage,
} from "@flint/core/ports";
import { emptyThread, FlintError, type StoredEvent, type Thread, type Turn } from "@flint/protocol";
import {
  assertThreadFolder,
  closeQuietly,
  type FileSystem,
  makeFolders,
  NODE_FILES,
  syncFolder,
} from "./file-system.ts";
import { removedName, type ThreadDescription, ThreadIndex } from "./listing/thread-index.ts";
import { listedThread } from "./listing/thread-list.ts";
import { readTurnPage } from "./log/turn-pages.ts";
import { ThreadFolder } from "./threads/thread-folder.ts";
import { ThreadLocks } from "./threads/thread-locks.ts";
import { ThreadOpener } from "./threads/thread-opener.ts";
import { readContents, readEvents, readWithLatestTurn } from "./threads/thread-reader.ts";

/** The folder of a store, and its durability. */
export interface JsonlStoreOptions {
  /** The folder of the store; created if it does not exist, and made private to its owner. */
  readonly root: string;
  /** `relaxed`: nothing is synced to the disk, so a power failure may lose the newest events. */
  readonly durability: "full" | "relaxed";
  readonly files?: FileSystem;
}

/** The number of threads that are opened or read at once; each needs descriptors while it is. */
const CONCURRENT_READS = 24;

/** Stores each thread in its own folder: an append-only log, a checkpoint, and the lock of its writer. */
export class JsonlStore implements Store {
  readonly #root: string;
  readonly #threads: string;
  readonly #files: FileSystem;
  readonly #isDurable: boolean;
  readonly #index: ThreadIndex;
  readonly #locks: ThreadLocks;
  readonly #opener: ThreadOpener;
  readonly #slots = new ConcurrencyLimit(CONCURRENT_READS);
  #ready: Promise<void> | undefined;

  constructor({ root, durability, files = NODE_FILES }: JsonlStoreOptions) {
    this.#root = resolve(root);
    this.#threads = join(this.#root, "threads");
    this.#files = files;
    this.#isDurable = durability === "full";
    this.#index = new ThreadIndex({
      files,
      root: this.#root,
      threads: this.#threads,
      describe: (threadId) => this.#describe(threadId),
    });
    this.#locks = new ThreadLocks(files, this.#root);
    this.#opener = new ThreadOpener({
      files,
      locks: this.#locks,
      isDurable: this.#isDurable,
      foldersAbove: [this.#threads, this.#root],
      list: (entry) => this.#index.record(entry),
    });
  }

  async create(threadId: string): Promise<ThreadWriter> {
    const folder = await this.#folder(threadId);
    try {
      return await this.#opener.create(folder);
    } catch (error) {
      // Expected: the folder of the store was deleted since it was created.
      if (!(error instanceof FlintError) || error.data.code !== "ENOENT") throw error;
    }
    this.#ready = undefined;
    return this.#opener.create(await this.#folder(threadId));
  }

  async open(threadId: string): Promise<OpenedThread> {
    const folder = await this.#folder(threadId);
    return this.#slots.run(() => this.#opener.open(folder));
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
      readWithLatestTurn(this.#files, folder, file),
    );
    return { epoch, state, damage };
  }

  async turns(threadId: string, page: TurnPage): Promise<Page<Turn>> {
    return this.#reading(threadId, (_folder, file, size) =>
      readTurnPage({ files: this.#files, file, size }, page),
    );
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
      assertThreadFolder(this.#files, folder.path, threadId);
      await this.#removeFolder(folder);
    } catch (error) {
      throw storageFailed(`Thread ${threadId} could not be deleted`, error, { threadId });
    }
  }

  async close(): Promise<void> {
    try {
      await this.#opener.close();
    } finally {
      await this.#locks.close();
      await this.#index.close();
    }
  }

  async #folder(threadId: string): Promise<ThreadFolder> {
    const folder = new ThreadFolder(this.#files, this.#threads, threadId);
    await this.#prepare();
    return folder;
  }

  /** Creates the folders of the store on first use, and again if that failed. */
  #prepare(): Promise<void> {
    this.#ready ??= this.#makeFolders().catch((error: unknown) => {
      this.#ready = undefined;
      throw storageFailed(`The store ${this.#root} could not be created`, error);
    });
    return this.#ready;
  }

  async #makeFolders(): Promise<void> {
    await makeFolders(this.#files, this.#root);
    await makeFolders(this.#files, this.#threads);
  }

  async #reading<Result>(
    threadId: string,
    action: (folder: ThreadFolder, file: number, size: number) => Promise<Result>,
  ): Promise<Result> {
    const folder = await this.#folder(threadId);
    return this.#slots.run(async () => {
      const { file, stats } = folder.readLog();
      try {
        return await action(folder, file, stats.size);
      } catch (error) {
        throw folder.failure("could not be read", error);
      } finally {
        closeQuietly(this.#files, file);
      }
    });
  }

  /** Describes a thread that is missing from the index. A log without events is not a thread yet. */
  async #describe(threadId: string): Promise<ThreadDescription | undefined> {
    if (this.#opener.isUnlisted(threadId)) return undefined;
    try {
      const { state, times, end, damage } = await this.#reading(threadId, (folder, file) =>
        readContents(this.#files, folder, file),
      );
      const isUnused = end.size === 0 || (end.seq === 0 && damage.records === 0);
      return isUnused ? undefined : { entry: listedThread(state, times), isCertain: true };
    } catch (error) {
      // Without a log there is no thread. Any other thread is listed, so that opening it reports what is wrong.
      if (error instanceof FlintError && error.kind === "threadNotFound") return undefined;
      return {
        entry: listedThread(emptyThread(threadId), { createdAtMs: 0, updatedAtMs: 0 }),
        isCertain: false,
      };
    }
  }

  async #removeFolder(folder: ThreadFolder): Promise<void> {
    const removed = join(this.#threads, removedName(folder.threadId));
    const lock = folder.expectLock(await this.#locks.acquire(folder.path));
    try {
      // The rename deletes it; what follows may be interrupted, and is completed when threads are next listed.
      await this.#files.rename(folder.path, removed);
      this.#index.forget(folder.threadId);
      await this.#files.removeTree(removed);
      if (this.#isDurable) await syncFolder(this.#files, this.#threads);
    } finally {
      lock.release();
    }
  }
}
