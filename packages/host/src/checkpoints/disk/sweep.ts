import { codeOf } from "@flint/core/ports";
import { type Disk, readFile, TimeSlice } from "./disk.ts";

/** What there is to sweep. */
export interface SweepOptions {
  readonly disk: Disk;
  /** Folders of folders with records. */
  readonly records: readonly string[];
  /** Records of threads that leave nothing behind; what a server that ended left there is deleted in time. */
  readonly ephemeral: string;
  readonly workspaces: string;
  readonly blobs: string;
  /** What was used within this time may belong to something that is not written down yet, by us or another server. */
  readonly graceMs: number;
  readonly signal: AbortSignal;
}

const HASH = /[0-9a-f]{64}/g;
const MANIFEST_ID = /"base":"([0-9a-f-]{36})"/g;
const LONGEST = 512 * 1024 * 1024;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** A workspace that nobody has worked in for so long is looked at anew. */
const WORKSPACE_MS = 30 * DAY_MS;
const EPHEMERAL_MS = 7 * DAY_MS;

/** Deletes contents that nobody owns any more. Safe beside other servers. Rejects if it is aborted. */
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
    // What is unused is chosen before the owners are read: an owner that is written meanwhile owns what is in use.
    const unused = await this.#unusedBlobs(blobs);
    await this.#dropOldEphemeral(ephemeral);
    for (const folder of records) {
      for (const thread of this.#list(folder)) await this.#readRecords(`${folder}/${thread}`);
    }
    for (const workspace of this.#list(workspaces)) await this.#readManifests(`${workspaces}/${workspace}`);
    for (const [path, name] of unused) {
      await this.#breathe();
      if (!this.#owned.has(name) && this.#isUnused(path)) this.#unlink(path);
    }
  }

  async #unusedBlobs(folder: string): Promise<[path: string, hash: string][]> {
    const found: [string, string][] = [];
    for (const prefix of this.#list(folder)) {
      for (const name of this.#list(`${folder}/${prefix}`)) {
        await this.#breathe();
        const path = `${folder}/${prefix}/${name}`;
        if (this.#isUnused(path)) found.push([path, `${prefix}${name}`]);
      }
    }
    return found;
  }

  async #readRecords(folder: string): Promise<void> {
    for (const name of this.#list(folder)) {
      await this.#breathe();
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

  /** The newest manifest of a workspace stays, and those that a running turn may need. */
  async #readManifests(folder: string): Promise<void> {
    const names = this.#list(folder).toSorted();
    const newest = names.findLast((name) => name.endsWith(".manifest"));
    for (const name of names) {
      await this.#breathe();
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
    // The time of a file is finer than the clock's, and could seem to be yet to come.
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

  /** A record that is gone owns nothing; one that cannot be read for another reason ends the sweep. */
  #text(path: string): string {
    try {
      return readFile(this.#options.disk, path, LONGEST)?.toString("latin1") ?? "";
    } catch (error) {
      if (codeOf(error) === "ENOENT") return "";
      throw error;
    }
  }

  #unlink(path: string): void {
    try {
      this.#options.disk.unlink(path);
    } catch (error) {
      // Another server was quicker.
      if (codeOf(error) !== "ENOENT") throw error;
    }
  }

  async #breathe(): Promise<void> {
    this.#options.signal.throwIfAborted();
    if (this.#slice.isOver) await this.#slice.pause();
  }
}
