import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { imageFromBytes, MAX_IMAGE_BYTES, readRegularBytes } from "@flint/host/files";
import { pathWithin } from "@flint/host/globs";
import { mentionOf } from "../completion/trigger.ts";
import { droppedPaths } from "./dropped-paths.ts";

/** An image that can be attached. */
export interface ImageFile {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
}

/** A dropped file: an image to attach, or text that names it. `problem` says why an image is only named. */
export type DroppedFile =
  | { readonly kind: "image"; readonly image: ImageFile }
  | { readonly kind: "mention"; readonly text: string; readonly problem?: string | undefined };

/** The user's folders, for resolving paths. */
export interface DropContext {
  readonly folder: string;
  readonly home: string | undefined;
}

/**
 * The files that a paste consists of; undefined if it names anything that does not exist. For what is plainly text the
 * answer is there at once, so that keys which follow the paste find it inserted. Never rejects.
 */
export function droppedFiles(
  pasted: string,
  { folder, home }: DropContext,
): Promise<readonly DroppedFile[] | undefined> | undefined {
  const paths = droppedPaths(pasted, home);
  return paths.length === 0 ? undefined : filesAt(paths, folder);
}

async function filesAt(
  paths: readonly string[],
  folder: string,
): Promise<readonly DroppedFile[] | undefined> {
  const files = await Promise.all(paths.map((path) => droppedFile(path, folder)));
  return files.includes(undefined) ? undefined : files.flatMap((file) => file ?? []);
}

const IMAGE_NAME = /\.(?:png|jpe?g|gif|webp|bmp|tiff?|heic|avif)$/i;

async function droppedFile(path: string, folder: string): Promise<DroppedFile | undefined> {
  // Expected: no such file.
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  const inside = pathWithin(folder, path);
  const text = mentionOf(
    (inside === undefined || inside === "" ? path : inside) + (found.isDirectory() ? "/" : ""),
  );
  if (!found.isFile() || !IMAGE_NAME.test(path)) return { kind: "mention", text };
  const image = await readImageFile(path);
  return "problem" in image ? { kind: "mention", text, problem: image.problem } : { kind: "image", image };
}

/** Looks at an image by its content, and says why it cannot be sent if so. Never rejects. */
export async function readImageFile(path: string): Promise<ImageFile | { readonly problem: string }> {
  const name = basename(path);
  const bytes = await readRegularBytes(path, MAX_IMAGE_BYTES);
  if (bytes === undefined)
    return { problem: `${name} is larger than ${MAX_IMAGE_BYTES / 1_000_000} MB, or cannot be read.` };
  const loaded = imageFromBytes(bytes);
  if ("problem" in loaded) return { problem: `${name} cannot be sent as an image: ${loaded.problem}.` };
  return { name, path, bytes: bytes.length };
}
