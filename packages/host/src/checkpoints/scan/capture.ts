import { existsSync, type Stats } from "node:fs";
import { codeOf } from "@flint/core/ports";
import type { Blobs } from "../disk/blobs.ts";
import { type Disk, OPEN_FLAGS, readFile } from "../disk/disk.ts";
import { namesWithin } from "../disk/roots.ts";
import { hashOf, modeOf, type State, unsaved } from "./entry.ts";

/** What looking at a path needs. */
export interface CaptureTools {
  readonly disk: Disk;
  readonly blobs: Blobs;
  /** Files with more bytes are not kept. */
  readonly limit: number;
}

/** What is at a path now. With `keep` its content can be put back later. Follows no link at the path itself. */
export function capture(tools: CaptureTools, path: string, keep: boolean): State {
  const stats = tools.disk.stat(path);
  return stats === undefined ? undefined : captureEntry(tools, path, stats, keep);
}

/** The same for what was already looked at. Throws only if a content cannot be kept. */
export function captureEntry(tools: CaptureTools, path: string, stats: Stats, keep: boolean): State {
  if (stats.isDirectory()) return { kind: "folder", mode: modeOf(stats) };
  if (stats.isFile() && stats.size > tools.limit) return unsaved("tooLarge", stats);
  const content = readContent(tools, path, stats);
  if (content === undefined || "kind" in content) return content;
  const hash = keep ? tools.blobs.put(content) : hashOf(content);
  return { kind: "file", hash, size: content.length, mode: modeOf(stats) };
}

/** The bytes of a file, or what is there instead. */
function readContent({ disk, limit }: CaptureTools, path: string, stats: Stats): Buffer | State {
  try {
    if (stats.isSymbolicLink()) return { kind: "link", target: disk.readLink(path) };
    if (!stats.isFile()) return unsaved("special", stats);
    return readFile(disk, path, limit) ?? unsaved("tooLarge", stats);
  } catch (error) {
    // It may go away while it is looked at; whatever else keeps it from being read is told with the path.
    return codeOf(error) === "ENOENT" ? undefined : unsaved("special", stats);
  }
}

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
