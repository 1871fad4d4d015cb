import { resolve } from "node:path";
import type { UserInput } from "@flint/protocol";
import { readRegularBytes } from "./regular-file.ts";

/** The size limit of one image, before it is encoded. */
export const MAX_IMAGE_BYTES = 3_750_000;

/** An image in the input of a user. */
export type ImageInput = Extract<UserInput, { type: "image" | "localImage" }>;

/** The content of an image, or why it could not be loaded. */
export type LoadedImage =
  | { readonly mediaType: string; readonly base64: string }
  | { readonly problem: string };

/** Reads an image; a relative path is resolved against the workspace. Never rejects. */
export async function readImage(image: ImageInput, cwd: string): Promise<LoadedImage> {
  if (image.type === "image") return imageFromDataUrl(image.url);
  const bytes = await readRegularBytes(resolve(cwd, image.path), MAX_IMAGE_BYTES);
  if (bytes === undefined)
    return { problem: `it is not a plain file of at most ${MAX_IMAGE_BYTES / 1_000_000} MB` };
  return imageFromBytes(bytes);
}

/** Reads an image from a data URL. */
export function imageFromDataUrl(url: string): LoadedImage {
  const data = /^data:image\/[a-z.+-]+;base64,/i.exec(url);
  if (data === null) return { problem: "images are not fetched from the web, so send the file itself" };
  const encoded = url.slice(data[0].length);
  if (encoded.length > (MAX_IMAGE_BYTES / 3) * 4 + 4) return { problem: tooLarge() };
  return imageFromBytes(Buffer.from(encoded, "base64"));
}

/** Detects the media type by content: a name or label may be wrong, and a wrong type fails the whole request. */
export function imageFromBytes(bytes: Buffer): LoadedImage {
  if (bytes.length > MAX_IMAGE_BYTES) return { problem: tooLarge() };
  const mediaType = mediaTypeOf(bytes);
  if (mediaType === undefined) return { problem: "it is not a PNG, JPEG, GIF or WebP image" };
  return { mediaType, base64: bytes.toString("base64") };
}

function tooLarge(): string {
  return `it is larger than ${MAX_IMAGE_BYTES / 1_000_000} MB`;
}

function mediaTypeOf(bytes: Buffer): string | undefined {
  const start = bytes.toString("latin1", 0, 12);
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(start)) return "image/gif";
  return /^RIFF.{4}WEBP/s.test(start) ? "image/webp" : undefined;
}
