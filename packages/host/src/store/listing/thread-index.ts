import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Page, ThreadQuery } from "@flint/core/ports";
import { isId, type Thread } from "@flint/protocol";
import type { FileSystem } from "../file-system.ts";
import { IndexFile, type IndexLine } from "./index-file.ts";
import { type ListedThread, ThreadList } from "./thread-list.ts";

const READ_AT_ONCE = 8;
const SPARE_LINES = 1000;

/** What the index must be told about the store it belongs to. */
export interface IndexedStore {
  readonly files: FileSystem;
  readonly root: string;
  /** The folder that holds the folders of the threads. */
  readonly threads: string;
  /** How a thread that the index does not know is listed; undefined if it is not, or not yet. */
  describe(threadId: string): Promise<Description | undefined>;
}

/** What was found out about a thread. What is not certain is shown but not remembered. */
export interface Description {
  readonly entry: ListedThread;
  readonly isCertain: boolean;
}

const REMOVED = ".removed-";

/** What the folder of a thread is called on its way out; no thread can have this name. */
export function removedName(threadId: string): string {
  return `${REMOVED}${threadId}-${randomBytes(8).toString("hex")}`;
}

/** The list of all threads: read when it is first needed, then kept in memory and in a file beside the threads. */
export class ThreadIndex {
  readonly #store: IndexedStore;
  readonly #file: IndexFile;
  readonly #list = new ThreadList();
  /** What the disk refused to take; it is newer than anything in the file. */
  readonly #unwritten = new Map<string, IndexLine>();
  #isLoaded = false;
  #loading: Promise<void> | undefined;
  #compacting: Promise<void> | undefined;

  constructor(store: IndexedStore) {
    this.#store = store;
    this.#file = new IndexFile(store.files, store.root);
  }

  /** Lists a thread like this from now on. Never throws. */
  record(entry: ListedThread): void {
    if (this.#isLoaded) this.#list.set(entry);
    this.#write([{ id: entry.thread.id, entry }]);
  }

  /** Lists a thread no more. Never throws. */
  forget(threadId: string): void {
    this.#list.delete(threadId);
    this.#write([{ id: threadId, entry: undefined }]);
  }

  async page(query: ThreadQuery): Promise<Page<Thread>> {
    await this.#refresh();
    return this.#list.page(query);
  }

  async close(): Promise<void> {
    await this.#loading?.catch(() => {});
    await this.#compacting;
    this.#file.close();
  }

  #write(lines: readonly IndexLine[]): void {
    for (const line of lines) this.#unwritten.set(line.id, line);
    try {
      this.#file.append([...this.#unwritten.values()]);
      this.#unwritten.clear();
    } catch {
      // The memory is right, and the next change of any thread tries again.
    }
  }

  async #refresh(): Promise<void> {
    if (this.#loading !== undefined) await this.#loading;
    if (this.#isLoaded && this.#applyNew()) return this.#compactIfLong();
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    await this.#loading;
    this.#compactIfLong();
  }

  /** Learns what other processes changed. False if the file is another one, so that all is to be read again. */
  #applyNew(): boolean {
    const { replaced, lines } = this.#file.readNew();
    if (!replaced) this.#apply([...lines, ...this.#unwritten.values()]);
    return !replaced;
  }

  #apply(lines: readonly IndexLine[]): void {
    for (const { id, entry } of lines) {
      if (entry === undefined) this.#list.delete(id);
      else this.#list.set(entry);
    }
  }

  async #load(): Promise<void> {
    const folders = await this.#threadFolders();
    // From here to the next await nothing else can happen, so no change falls between the file and the list.
    const lines = this.#file.readAll();
    this.#list.clear();
    this.#apply([...lines, ...this.#unwritten.values()]);
    this.#isLoaded = true;
    this.#dropWithoutFolder(folders);
    await this.#addUnknown([...folders].filter((threadId) => !this.#list.has(threadId)));
  }

  async #threadFolders(): Promise<Set<string>> {
    const { files, threads } = this.#store;
    const names = new Set<string>();
    for (const entry of await files.readdir(threads)) {
      const isFolder = entry.isDirectory();
      if (isFolder && isId(entry.name)) names.add(entry.name);
      // A removal that a crash interrupted is finished; it does no harm if that fails again.
      if (isFolder && entry.name.startsWith(REMOVED))
        await files.removeTree(join(threads, entry.name)).catch(() => {});
    }
    return names;
  }

  #dropWithoutFolder(folders: ReadonlySet<string>): void {
    const { files, threads } = this.#store;
    for (const threadId of this.#list.ids()) {
      if (folders.has(threadId)) continue;
      // It may have been made after the folders were looked at.
      if (files.lstatSync(join(threads, threadId))?.isDirectory() !== true) this.#list.delete(threadId);
    }
  }

  async #addUnknown(threadIds: string[]): Promise<void> {
    const added: IndexLine[] = [];
    const work = async (): Promise<void> => {
      for (let id = threadIds.pop(); id !== undefined; id = threadIds.pop()) {
        const description = await this.#store.describe(id);
        if (description === undefined || this.#list.has(id)) continue;
        const { entry, isCertain } = description;
        this.#list.set(entry);
        if (isCertain) added.push({ id, entry });
      }
    };
    await Promise.all(Array.from({ length: READ_AT_ONCE }, work));
    if (added.length > 0) this.#write(added);
  }

  #compactIfLong(): void {
    if (this.#compacting !== undefined || this.#file.lines <= 2 * this.#list.size + SPARE_LINES) return;
    this.#compacting = this.#file
      .compact(this.#list.entries())
      // A long index is only slower; the next look at the list tries again.
      .catch(() => {})
      .finally(() => {
        this.#compacting = undefined;
      });
  }
}
