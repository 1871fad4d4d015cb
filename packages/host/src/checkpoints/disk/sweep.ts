import { codeOf } from "@flint/core/ports";
import { type Disk, readFile, TimeSlice } from "./disk.ts";

/** The state folder to sweep, and its limits. */
export interface SweepOptions {
  readonly disk: Disk;
  /** Folders with the record folders of threads. */
  readonly records: readonly string[];
  /** Records of ephemeral threads; what a crashed server left there is deleted after a while. */
  readonly ephemeral: string;
  readonly workspaces: string;
  readonly blobs: string;
  /**
   * Age below which unreferenced content may belong to a record that is not written yet, by this or another
   * server.
   */
  readonly graceMs: number;
  readonly signal: AbortSignal;
}

const HASH = /[0-9a-f]{64}/g;
const MANIFEST_ID = /"base":"([0-9a-f-]{36})"/g;
const MAX_BYTES = 512 * 1024 * 1024;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** The manifest of a workspace that was unused for this long is deleted. */
const WORKSPACE_MS = 30 * DAY_MS;
const EPHEMERAL_MS = 7 * DAY_MS;

/** Deletes contents that no record refers to any more. Safe beside other servers. Rejects if it is aborted. */
export class Sweep {
  readonly #options: SweepOptions;
  readonly #owned = new Set<string>();
  readonly #bases = new Set<string>();
  readonly #slice = new TimeSlice();

  constructor(options: SweepOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { records, ephemeral, workspaces, blobs } = this.#options;
    // Candidates are chosen before the records are read: a record written meanwhile refers to contents in use.
    const unused = await this.#unusedBlobs(blobs);
    await this.#dropOldEphemeral(ephemeral);
    for (const folder of records) {
      for (const thread of this.#list(folder)) await this.#readRecords(`${folder}/${thread}`);
    }
    for (const workspace of this.#list(workspaces)) await this.#readManifests(`${workspaces}/${workspace}`);
    for (const [path, name] of unused) {
      await this.#pauseIfDue();
      if (!this.#owned.has(name) && this.#isUnused(path)) this.#unlink(path);
    }
  }

  async #unusedBlobs(folder: string): Promise<[path: string, hash: string][]> {
    const found: [string, string][] = [];
    for (const prefix of this.#list(folder)) {
      for (const name of this.#list(`${folder}/${prefix}`)) {
        await this.#pauseIfDue();
        const path = `${folder}/${prefix}/${name}`;
        if (this.#isUnused(path)) found.push([path, `${prefix}${name}`]);
      }
    }
    return found;
  }

  async #readRecords(folder: string): Promise<void> {
    for (const name of this.#list(folder)) {
      await this.#pauseIfDue();
      const path = `${folder}/${name}`;
      if (name.endsWith(".tmp")) {
        if (this.#isUnused(path)) this.#unlink(path);
        continue;
      }
      const text = this.#text(path);
      for (const [hash] of text.matchAll(HASH)) this.#owned.add(hash);
      for (const [, base] of text.matchAll(MANIFEST_ID)) if (base !== undefined) this.#bases.add(base);
    }
  }

  /** Keeps the newest manifest of a workspace, and those that a running turn may need. */
  async #readManifests(folder: string): Promise<void> {
    const names = this.#list(folder).toSorted();
    const newest = names.findLast((name) => name.endsWith(".manifest"));
    for (const name of names) {
      await this.#pauseIfDue();
      const path = `${folder}/${name}`;
      const isNeeded = name === newest ? !this.#isOlder(path, WORKSPACE_MS) : false;
      if (!isNeeded && !this.#bases.has(name.replace(".manifest", "")) && this.#isUnused(path)) {
        this.#unlink(path);
        continue;
      }
      for (const [hash] of this.#text(path).matchAll(HASH)) this.#owned.add(hash);
    }
  }

  async #dropOldEphemeral(folder: string): Promise<void> {
    for (const name of this.#list(folder)) {
      const path = `${folder}/${name}`;
      if (this.#isOlder(path, EPHEMERAL_MS)) await this.#options.disk.removeTree(path);
    }
  }

  #isUnused(path: string): boolean {
    return this.#isOlder(path, this.#options.graceMs);
  }

  #isOlder(path: string, milliseconds: number): boolean {
    const stats = this.#options.disk.stat(path);
    // File times are finer than the clock, and could appear to be in the future.
    return stats !== undefined && Date.now() - Math.floor(stats.mtimeMs) >= milliseconds;
  }

  #list(folder: string): readonly string[] {
    try {
      return this.#options.disk.list(folder).map(({ name }) => name);
    } catch (error) {
      if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return [];
      throw error;
    }
  }

  /** A deleted record refers to nothing; one that cannot be read for another reason ends the sweep. */
  #text(path: string): string {
    try {
      return readFile(this.#options.disk, path, MAX_BYTES)?.toString("latin1") ?? "";
    } catch (error) {
      if (codeOf(error) === "ENOENT") return "";
      throw error;
    }
  }

  #unlink(path: string): void {
    try {
      this.#options.disk.unlink(path);
    } catch (error) {
      // Another server deleted it first.
      if (codeOf(error) !== "ENOENT") throw error;
    }
  }

  async #pauseIfDue(): Promise<void> {
    this.#options.signal.throwIfAborted();
    if (this.#slice.isOver) await this.#slice.pause();
  }
}
