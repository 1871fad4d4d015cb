import { existsSync } from "node:fs";
import { type Disk, OPEN_FLAGS } from "../disk/disk.ts";
import { namesWithin } from "../disk/roots.ts";
import { type CaptureTools, capture } from "../scan/capture.ts";
import type { State } from "../scan/entry.ts";

/** Where the system shows open files as paths, a folder that was opened cannot be exchanged for another. */
const OPEN_FILES = "/proc/self/fd";
let hasOpenFiles: boolean | undefined;

/** A folder that was reached from its root without following a link, and is held while something is done in it. */
export class HeldFolder {
  readonly #disk: Disk;
  readonly #file: number;
  readonly #path: string;

  private constructor(disk: Disk, file: number, path: string) {
    this.#disk = disk;
    this.#file = file;
    hasOpenFiles ??= existsSync(OPEN_FILES);
    this.#path = hasOpenFiles ? `${OPEN_FILES}/${file}` : path;
  }

  /** Goes down from a root. "missing": it is not there. "blocked": a link or a file is in the way. */
  static reach(disk: Disk, root: string, names: readonly string[]): HeldFolder | "missing" | "blocked" {
    let held = HeldFolder.#open(disk, root);
    for (const name of names) {
      if (!(held instanceof HeldFolder)) return held;
      const outer: HeldFolder = held;
      try {
        held = HeldFolder.#open(disk, outer.pathOf(name));
      } finally {
        outer.close();
      }
    }
    return held;
  }

  /** A path that leads to what is in this very folder. */
  pathOf(name: string): string {
    return `${this.#path}/${name}`;
  }

  close(): void {
    this.#disk.close(this.#file);
  }

  static #open(disk: Disk, path: string): HeldFolder | "missing" | "blocked" {
    const stats = disk.stat(path);
    if (stats === undefined) return "missing";
    if (!stats.isDirectory()) return "blocked";
    try {
      return new HeldFolder(disk, disk.open(path, OPEN_FLAGS.folder, 0), path);
    } catch {
      // Exchanged in this instant, or kept from us.
      return "blocked";
    }
  }
}

/** What is at a path inside a root, without following any link on the way. "blocked": a link or a file is in the way. */
export function presentState(
  tools: CaptureTools,
  path: string,
  root: string,
  keep: boolean,
): State | "blocked" {
  const names = namesWithin(path, root);
  const folder = HeldFolder.reach(tools.disk, root, names.slice(0, -1));
  if (folder === "missing") return undefined;
  if (folder === "blocked") return "blocked";
  try {
    return capture(tools, folder.pathOf(names.at(-1) ?? ""), keep);
  } finally {
    folder.close();
  }
}
