import { existsSync, type Stats } from "node:fs";
import { codeOf } from "@flint/core/ports";
import type { Blobs } from "../disk/blobs.ts";
import { type Disk, OPEN_FLAGS, readFile } from "../disk/disk.ts";
import { namesWithin } from "../disk/roots.ts";
import { hashOf, modeOf, type State, unsaved } from "./entry.ts";

/** Dependencies for capturing the state of a path. */
export interface CaptureContext {
  readonly disk: Disk;
  readonly blobs: Blobs;
  /** Files with more bytes are not stored. */
  readonly limit: number;
}

/**
 * Returns the current state of a path. With `store` its content is stored, to be restored later. Does not
 * follow a link.
 */
export function capture(context: CaptureContext, path: string, store: boolean): State {
  const stats = context.disk.stat(path);
  return stats === undefined ? undefined : captureEntry(context, path, stats, store);
}

/** Like `capture`, with known stats. Throws only if the content cannot be stored. */
export function captureEntry(context: CaptureContext, path: string, stats: Stats, store: boolean): State {
  if (stats.isDirectory()) return { kind: "folder", mode: modeOf(stats) };
  if (stats.isFile() && stats.size > context.limit) return unsaved("tooLarge", stats);
  const content = readContent(context, path, stats);
  if (content === undefined || "kind" in content) return content;
  const hash = store ? context.blobs.put(content) : hashOf(content);
  return { kind: "file", hash, size: content.length, mode: modeOf(stats) };
}

/** The bytes of a file, or what is there instead. */
function readContent({ disk, limit }: CaptureContext, path: string, stats: Stats): Buffer | State {
  try {
    if (stats.isSymbolicLink()) return { kind: "link", target: disk.readLink(path) };
    if (!stats.isFile()) return unsaved("special", stats);
    return readFile(disk, path, limit) ?? unsaved("tooLarge", stats);
  } catch (error) {
    // It may have been deleted meanwhile; any other failure is reported with the path.
    return codeOf(error) === "ENOENT" ? undefined : unsaved("special", stats);
  }
}

/**
 * Paths of open files, by which an opened folder cannot be swapped for another, where the system has them.
 */
const FD_FOLDER = "/proc/self/fd";
let hasFdFolder: boolean | undefined;

/** An open folder that was reached from its root without following a link. */
export class OpenFolder {
  readonly #disk: Disk;
  readonly #file: number;
  readonly #path: string;

  private constructor(disk: Disk, file: number, path: string) {
    this.#disk = disk;
    this.#file = file;
    hasFdFolder ??= existsSync(FD_FOLDER);
    this.#path = hasFdFolder ? `${FD_FOLDER}/${file}` : path;
  }

  /** Opens a folder below a root. "missing": it does not exist. "blocked": a link or a file is in the way. */
  static descend(disk: Disk, root: string, names: readonly string[]): OpenFolder | "missing" | "blocked" {
    let folder = OpenFolder.#open(disk, root);
    for (const name of names) {
      if (!(folder instanceof OpenFolder)) return folder;
      const outer: OpenFolder = folder;
      try {
        folder = OpenFolder.#open(disk, outer.pathOf(name));
      } finally {
        outer.close();
      }
    }
    return folder;
  }

  /** A path to an entry of this very folder. */
  pathOf(name: string): string {
    return `${this.#path}/${name}`;
  }

  close(): void {
    this.#disk.close(this.#file);
  }

  static #open(disk: Disk, path: string): OpenFolder | "missing" | "blocked" {
    const stats = disk.stat(path);
    if (stats === undefined) return "missing";
    if (!stats.isDirectory()) return "blocked";
    try {
      return new OpenFolder(disk, disk.open(path, OPEN_FLAGS.folder, 0), path);
    } catch {
      // Swapped in this instant, or not accessible.
      return "blocked";
    }
  }
}

/**
 * Returns the state of a path inside a root, without following any link on the way. "blocked": a link or a
 * file is in the way.
 */
export function currentState(
  context: CaptureContext,
  path: string,
  root: string,
  store: boolean,
): State | "blocked" {
  const names = namesWithin(path, root);
  const folder = OpenFolder.descend(context.disk, root, names.slice(0, -1));
  if (folder === "missing") return undefined;
  if (folder === "blocked") return "blocked";
  try {
    return capture(context, folder.pathOf(names.at(-1) ?? ""), store);
  } finally {
    folder.close();
  }
}
