import { resolve } from "node:path";
import { inputText, type UserInput } from "@flint/protocol";
import type { ClaudeInputBlock } from "@flint/protocol/claude";
import { plainBytes } from "./plain-text.ts";

/** What one picture may weigh, before it is written as text. */
const PICTURE_BYTES = 3_750_000;

type ImageInput = Extract<UserInput, { type: "image" | "localImage" }>;

/** A picture as a block, or the reason why it cannot be given. Never rejects. */
export async function pictureBlock(image: ImageInput, cwd: string): Promise<ClaudeInputBlock> {
  const bytes =
    image.type === "image" ? embedded(image.url) : await plainBytes(resolve(cwd, image.path), PICTURE_BYTES);
  const media_type = bytes === undefined ? undefined : mediaTypeOf(bytes);
  if (bytes === undefined || media_type === undefined || bytes.length > PICTURE_BYTES) {
    const reason = `it is no PNG, JPEG, GIF or WebP picture of at most ${PICTURE_BYTES / 1_000_000} MB that is given as a file or with its content`;
    return { type: "text", text: `(${inputText([image])}: ${reason}.)` };
  }
  return { type: "image", source: { type: "base64", media_type, data: bytes.toString("base64") } };
}

function embedded(url: string): Buffer | undefined {
  const data = /^data:image\/[a-z.+-]+;base64,/i.exec(url);
  const isFitting = data !== null && url.length <= 2 * PICTURE_BYTES;
  return isFitting ? Buffer.from(url.slice(data[0].length), "base64") : undefined;
}

/** The kind is told by the content; a name or a label may be wrong, and a wrong kind fails the whole request. */
function mediaTypeOf(bytes: Buffer): string | undefined {
  const start = bytes.toString("latin1", 0, 12);
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(start)) return "image/gif";
  return /^RIFF.{4}WEBP/s.test(start) ? "image/webp" : undefined;
}
