import { opendir, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { type Clock, pause } from "@flint/core/ports";
import { FolderWalk, fuzzyMatch } from "@flint/host/globs";
import type { FoundFile } from "./completer.ts";

/** More files than this are not listed; what the user types still names any of them. */
const MAX_FILES = 100_000;
const MAX_RESULTS = 50;
const MAX_LISTED = 1_000;

/** Time for which a list of files is used before the folder is walked again, in milliseconds. */
const FRESH = 5_000;

/** Time for which a first search waits, in milliseconds. */
const FIRST_WAIT = 100;

/** So many files are compared before keys are handled again. */
const SLICE = 2_000;

/** Bonus of a recently used file over its matching letters. */
const RECENT = 40;

/**
 * The files and folders of a workspace, without what git ignores and without following links. The folder is walked when
 * files are first searched for, and again when that was a while ago; searches meanwhile use what was found so far.
 */
export class FileIndex {
  /** The folder that mentions are relative to. */
  readonly folder: string;
  readonly #clock: Clock;
  readonly #grown: () => void;
  readonly #stop = new AbortController();
  #files: readonly FoundFile[] = [];
  #recent: readonly string[] = [];
  #walkedAt = Number.NEGATIVE_INFINITY;
  #walk: Promise<void> | undefined;

  /** `grown` is called when a walk has ended, so that an open list can search again. */
  constructor(folder: string, clock: Clock, grown: () => void) {
    this.folder = folder;
    this.#clock = clock;
    this.#grown = grown;
  }

  /** Notes that a file was chosen, which makes it better next time. */
  noteUse(path: string): void {
    this.#recent = [path, ...this.#recent.filter((each) => each !== path)].slice(0, MAX_RESULTS);
  }

  /** The best files for some letters. Rejects when the signal is aborted. */
  async find(query: string, signal: AbortSignal): Promise<readonly FoundFile[]> {
    if (/^(?:\/|~\/|\.\.?\/)/.test(query)) return this.#list(query);
    const walk = this.#refresh();
    // A first search waits for a small folder; a large one grows below an open list.
    if (this.#files.length === 0) await Promise.race([walk, pause(this.#clock, FIRST_WAIT, signal)]);
    signal.throwIfAborted();
    return query === "" ? this.#first() : this.#rank(query, signal);
  }

  /** Ends a walk that is under way. */
  close(): void {
    this.#stop.abort();
  }

  #refresh(): Promise<void> {
    if (this.#walk !== undefined) return this.#walk;
    if (this.#clock.monotonic() - this.#walkedAt < FRESH) return Promise.resolve();
    this.#walk = this.#walkFolder().finally(() => {
      this.#walk = undefined;
      this.#walkedAt = this.#clock.monotonic();
      if (!this.#stop.signal.aborted) this.#grown();
    });
    return this.#walk;
  }

  async #walkFolder(): Promise<void> {
    // A folder that is gone contains nothing.
    const folder = await realpath(this.folder).catch(() => undefined);
    if (folder === undefined) return;
    const found: FoundFile[] = [];
    const isFirst = this.#files.length === 0;
    if (isFirst) this.#files = found;
    const options = { folder, workspace: folder, signal: this.#stop.signal, limit: MAX_FILES };
    for await (const { path, kind } of new FolderWalk(options).entries())
      if (kind === "file" || kind === "folder") found.push({ path, isFolder: kind === "folder" });
    this.#files = found;
  }

  /** Without any letters: what was used last, then the top of the workspace. */
  #first(): readonly FoundFile[] {
    const recent = this.#recent.flatMap((path) => this.#files.find((file) => file.path === path) ?? []);
    const top = this.#files.filter((file) => !file.path.includes("/") && !recent.includes(file));
    return [...recent, ...top].slice(0, MAX_RESULTS);
  }

  async #rank(query: string, signal: AbortSignal): Promise<readonly FoundFile[]> {
    const best: { file: FoundFile; score: number }[] = [];
    const files = this.#files;
    for (let start = 0; start < files.length; start += SLICE) {
      if (start > 0) await new Promise((resolved) => setImmediate(resolved));
      signal.throwIfAborted();
      for (const file of files.slice(start, start + SLICE)) {
        const match = fuzzyMatch(query, file.path);
        if (match !== undefined) best.push({ file, score: match.score + this.#bonus(file, query) });
      }
      best.sort((left, right) => right.score - left.score || compareLength(left.file, right.file));
      best.length = Math.min(best.length, MAX_RESULTS);
    }
    return best.map(({ file }) => file);
  }

  #bonus({ path }: FoundFile, query: string): number {
    const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
    const requested = query.toLowerCase();
    const ofName = name.startsWith(requested)
      ? requested.length * 4
      : name.includes(requested)
        ? requested.length * 2
        : 0;
    return ofName + (this.#recent.includes(path) ? RECENT : 0);
  }

  /** Paths outside of the workspace are completed folder by folder, as in a shell. */
  async #list(query: string): Promise<readonly FoundFile[]> {
    const typed = query.slice(0, query.lastIndexOf("/") + 1);
    const start = query.slice(typed.length).toLowerCase();
    const base = typed.startsWith("~/") ? join(homedir(), typed.slice(2)) : resolve(this.folder, typed);
    const found: FoundFile[] = [];
    // Expected: no such folder, or one that may not be read.
    const folder = await opendir(base).catch(() => undefined);
    if (folder === undefined) return [];
    for await (const entry of folder) {
      if (!entry.name.toLowerCase().startsWith(start) || (start === "" && entry.name.startsWith(".")))
        continue;
      found.push({ path: typed + entry.name, isFolder: entry.isDirectory() });
      if (found.length >= MAX_LISTED) break;
    }
    return found.sort((left, right) => (left.path < right.path ? -1 : 1)).slice(0, MAX_RESULTS);
  }
}

function compareLength(left: FoundFile, right: FoundFile): number {
  return left.path.length - right.path.length || (left.path < right.path ? -1 : 1);
}
