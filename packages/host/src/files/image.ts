import { resolve } from "node:path";
import type { UserInput } from "@flint/protocol";
import { plainBytes } from "./plain-file.ts";

/** What one picture may weigh, before it is written as text. */
export const PICTURE_BYTES = 3_750_000;

/** A picture that a user gave. */
export type ImageInput = Extract<UserInput, { type: "image" | "localImage" }>;

/** The content of a picture, or why there is none. */
export type Picture = { readonly mediaType: string; readonly base64: string } | { readonly problem: string };

/** Reads a picture, from the workspace where its path is not a whole one. Never rejects. */
export async function readPicture(image: ImageInput, cwd: string): Promise<Picture> {
  if (image.type === "image") return embeddedPicture(image.url);
  const bytes = await plainBytes(resolve(cwd, image.path), PICTURE_BYTES);
  if (bytes === undefined)
    return { problem: `it is no plain file of at most ${PICTURE_BYTES / 1_000_000} MB` };
  return pictureOf(bytes);
}

/** A picture that is given with its content. */
export function embeddedPicture(url: string): Picture {
  const data = /^data:image\/[a-z.+-]+;base64,/i.exec(url);
  if (data === null) return { problem: "pictures are not fetched from the web, so give the file itself" };
  const encoded = url.slice(data[0].length);
  if (encoded.length > (PICTURE_BYTES / 3) * 4 + 4) return { problem: tooLarge() };
  return pictureOf(Buffer.from(encoded, "base64"));
}

/** The kind is told by the content; a name or a label may be wrong, and a wrong kind fails the whole request. */
export function pictureOf(bytes: Buffer): Picture {
  if (bytes.length > PICTURE_BYTES) return { problem: tooLarge() };
  const mediaType = mediaTypeOf(bytes);
  if (mediaType === undefined) return { problem: "it is no PNG, JPEG, GIF or WebP picture" };
  return { mediaType, base64: bytes.toString("base64") };
}

function tooLarge(): string {
  return `it is larger than ${PICTURE_BYTES / 1_000_000} MB`;
}

function mediaTypeOf(bytes: Buffer): string | undefined {
  const start = bytes.toString("latin1", 0, 12);
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(start)) return "image/gif";
  return /^RIFF.{4}WEBP/s.test(start) ? "image/webp" : undefined;
}
