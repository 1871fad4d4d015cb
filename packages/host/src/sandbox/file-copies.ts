import { type FSWatcher, watch } from "node:fs";
import { realpath } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { Clock, CopiedFile } from "@flint/core/ports";
import { replacePrivateFile } from "../files/private-file.ts";
import { readRegularText, readTextNoFollow, UNREADABLE } from "../files/regular-file.ts";

/** A file and the copy of it that a program can write. */
export interface FileCopy extends Pick<CopiedFile, "accepts"> {
  readonly original: string;
  readonly copy: string;
}

/** The largest original that is copied. */
const MAX_ORIGINAL_BYTES = 16 * 1024 * 1024;

/** The largest copy that replaces its original. */
const MAX_CHANGE_BYTES = 1024 * 1024;

/** Time for which changes are collected: programs write several times, and a hostile one all the time. */
const DELAY_MS = 100;

/**
 * Keeps originals and the copies of one program the same: an accepted change of a copy replaces its original, a change of
 * the original replaces the copy, and of two changes that of the original counts. An original that is removed meanwhile
 * is not made again.
 */
export class FileCopies {
  readonly #clock: Clock;
  readonly #files: readonly SyncedFile[];
  readonly #watchers: readonly FSWatcher[];
  #cancelDelay: (() => void) | undefined;
  #syncing: Promise<void> = Promise.resolve();
  #stopped = false;

  private constructor(files: readonly SyncedFile[], clock: Clock) {
    this.#clock = clock;
    this.#files = files;
    const paths = files.flatMap(({ paths }) => paths);
    const folders = [...new Set(paths.map((path) => dirname(path)))];
    const names = new Set(paths.map((path) => basename(path)));
    this.#watchers = folders.flatMap((folder) => this.#watch(folder, names));
  }

  /** Makes the copies. What is not a plain file, or too large, is not copied. */
  static async start(copies: readonly FileCopy[], clock: Clock): Promise<FileCopies> {
    const files = await Promise.all(copies.map((copy) => SyncedFile.create(copy)));
    return new FileCopies(
      files.filter((file) => file.isSynced),
      clock,
    );
  }

  /** Looks at the copies for the last time, once no program can write them any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelDelay?.();
    for (const watcher of this.#watchers) watcher.close();
    await this.#sync();
  }

  /** Expected: no further watches are possible on this machine. Then changes are noticed at the end. */
  #watch(folder: string, names: ReadonlySet<string>): FSWatcher[] {
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        if (name === null || names.has(name)) this.#changed();
      });
      watcher.on("error", () => watcher.close());
      return [watcher];
    } catch {
      return [];
    }
  }

  #changed(): void {
    if (this.#stopped) return;
    this.#cancelDelay ??= this.#clock.after(DELAY_MS, () => {
      this.#cancelDelay = undefined;
      void this.#sync();
    });
  }

  /** One after the other. Never rejects. */
  #sync(): Promise<void> {
    this.#syncing = this.#syncing.then(async () => {
      for (const file of this.#files) await file.sync();
    });
    return this.#syncing;
  }
}

class SyncedFile {
  readonly #file: FileCopy;
  /** The content of both when they were last equal. */
  #known: string | undefined;
  #removed = false;

  private constructor(file: FileCopy, known: string | undefined) {
    this.#file = file;
    this.#known = known;
  }

  static async create({ original, ...file }: FileCopy): Promise<SyncedFile> {
    // The program may later be able to change where a link leads, but not what it leads to now.
    const real = await realpath(original).catch(() => original);
    const content = await readRegularText(real, MAX_ORIGINAL_BYTES);
    const known = content === UNREADABLE ? undefined : content;
    if (known !== undefined) await replacePrivateFile(file.copy, known);
    const { accepts, ...fixed } = file;
    const isSynced = accepts !== undefined && content !== UNREADABLE;
    return new SyncedFile({ original: real, ...fixed, ...(isSynced && { accepts }) }, known);
  }

  get isSynced(): boolean {
    return this.#file.accepts !== undefined;
  }

  get paths(): string[] {
    return [this.#file.original, this.#file.copy];
  }

  /** Expected: a folder that cannot be written, or that the program has put in the place of its copy. */
  async sync(): Promise<void> {
    await this.#sync().catch(() => undefined);
  }

  async #sync(): Promise<void> {
    const { original, copy, accepts } = this.#file;
    const outside = await readRegularText(original, MAX_ORIGINAL_BYTES);
    if (outside === UNREADABLE || this.#removed) return;
    if (outside !== this.#known) {
      this.#removed = outside === undefined;
      this.#known = outside;
      if (outside !== undefined) await replacePrivateFile(copy, outside);
      return;
    }
    const inside = await readTextNoFollow(copy, MAX_CHANGE_BYTES);
    if (inside === undefined || inside === this.#known || accepts?.(this.#known, inside) !== true) return;
    const folder = dirname(original);
    if ((await realpath(folder)) !== folder) return;
    await replacePrivateFile(original, inside);
    this.#known = inside;
  }
}
