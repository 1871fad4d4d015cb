import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Page, ThreadQuery } from "@flint/core/ports";
import { isId, type Thread } from "@flint/protocol";
import type { FileSystem } from "../file-system.ts";
import { IndexFile, type IndexLine } from "./index-file.ts";
import { type ListedThread, ThreadList } from "./thread-list.ts";

const CONCURRENT_READS = 8;
const SPARE_LINES = 1000;

/** The parts of its store that the index uses. */
export interface ThreadIndexOptions {
  readonly files: FileSystem;
  readonly root: string;
  /** The folder that contains the thread folders. */
  readonly threads: string;
  /** Describes a thread that is missing from the index; undefined if it is not to be listed yet. */
  describe(threadId: string): Promise<ThreadDescription | undefined>;
}

/** The description of a thread. If it is not certain, it is listed but not stored. */
export interface ThreadDescription {
  readonly entry: ListedThread;
  readonly isCertain: boolean;
}

const REMOVED = ".removed-";

/** The name of a thread folder while it is being deleted; no thread can have it. */
export function removedName(threadId: string): string {
  return `${REMOVED}${threadId}-${randomBytes(8).toString("hex")}`;
}

/** The list of all threads: read on first use, then cached in memory and in a file beside the threads. */
export class ThreadIndex {
  readonly #options: ThreadIndexOptions;
  readonly #file: IndexFile;
  readonly #list = new ThreadList();
  /** Lines that could not be written; newer than anything in the file. */
  readonly #unwritten = new Map<string, IndexLine>();
  #isLoaded = false;
  #loading: Promise<void> | undefined;
  #compacting: Promise<void> | undefined;

  constructor(store: ThreadIndexOptions) {
    this.#options = store;
    this.#file = new IndexFile(store.files, store.root);
  }

  /** Adds or updates the entry of a thread. Never throws. */
  record(entry: ListedThread): void {
    if (this.#isLoaded) this.#list.set(entry);
    this.#write([{ id: entry.thread.id, entry }]);
  }

  /** Removes a thread from the list. Never throws. */
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
      // The list in memory is correct, and the next change of any thread tries again.
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

  /** Applies the changes of other processes. False if the file was replaced and has to be read again. */
  #applyNew(): boolean {
    const { replaced, lines } = this.#file.readNew();
    if (replaced) return false;
    this.#apply(lines);
    this.#apply(this.#unwritten.values());
    return true;
  }

  #apply(lines: Iterable<IndexLine>): void {
    for (const { id, entry } of lines) {
      if (entry === undefined) this.#list.delete(id);
      else this.#list.set(entry);
    }
  }

  async #load(): Promise<void> {
    const folders = await this.#threadFolders();
    // No await from here until the list is complete, so that no change is missed.
    const lines = this.#file.readAll();
    this.#list.clear();
    this.#apply(lines);
    this.#apply(this.#unwritten.values());
    this.#isLoaded = true;
    this.#dropWithoutFolder(folders);
    const unknown: string[] = [];
    for (const threadId of folders) if (!this.#list.has(threadId)) unknown.push(threadId);
    await this.#addUnknown(unknown);
  }

  async #threadFolders(): Promise<Set<string>> {
    const { files, threads } = this.#options;
    const names = new Set<string>();
    for (const entry of await files.readdir(threads)) {
      if (!entry.isDirectory()) continue;
      if (isId(entry.name)) names.add(entry.name);
      // Completes a removal that a crash interrupted; failing again does no harm.
      else if (entry.name.startsWith(REMOVED))
        await files.removeTree(join(threads, entry.name)).catch(() => {});
    }
    return names;
  }

  #dropWithoutFolder(folders: ReadonlySet<string>): void {
    const { files, threads } = this.#options;
    for (const threadId of this.#list.ids()) {
      if (folders.has(threadId)) continue;
      // It may have been created after the folders were read.
      if (files.lstatSync(join(threads, threadId))?.isDirectory() !== true) this.#list.delete(threadId);
    }
  }

  async #addUnknown(threadIds: string[]): Promise<void> {
    const added: IndexLine[] = [];
    const work = async (): Promise<void> => {
      for (let id = threadIds.pop(); id !== undefined; id = threadIds.pop()) {
        const description = await this.#options.describe(id);
        if (description === undefined || this.#list.has(id)) continue;
        const { entry, isCertain } = description;
        this.#list.set(entry);
        if (isCertain) added.push({ id, entry });
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT_READS }, work));
    if (added.length > 0) this.#write(added);
  }

  #compactIfLong(): void {
    if (this.#compacting !== undefined || this.#file.lines <= 2 * this.#list.size + SPARE_LINES) return;
    this.#compacting = this.#file
      .compact(this.#list.entries())
      // A long index is only slower; the next listing tries again.
      .catch(() => {})
      .finally(() => {
        this.#compacting = undefined;
      });
  }
}
