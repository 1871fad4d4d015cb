import type { Stats } from "node:fs";
import { codeOf } from "@flint/core/ports";
import type { Blobs } from "../disk/blobs.ts";
import { type Disk, readFile } from "../disk/disk.ts";
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
