import { lstat, readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import { inputText, type UserInput } from "@flint/protocol";

/** What one picture may weigh, before it is written as text. */
const PICTURE_BYTES = 3_750_000;

/** What an agent takes beside text. */
export interface PromptAbilities {
  readonly image: boolean;
}

/** What the user sent, as blocks of a prompt. What cannot be given is named with the reason. Never rejects. */
export async function promptBlocks(
  input: readonly UserInput[],
  cwd: string,
  abilities: PromptAbilities,
): Promise<ContentBlock[]> {
  return Promise.all(input.map((piece) => block(piece, cwd, abilities)));
}

/** A block of text. */
export function textBlock(text: string): ContentBlock {
  return { type: "text", text };
}

async function block(piece: UserInput, cwd: string, { image }: PromptAbilities): Promise<ContentBlock> {
  switch (piece.type) {
    case "text":
      return textBlock(piece.text);
    case "skill":
      return textBlock(inputText([piece]));
    case "mention": {
      const path = resolve(cwd, piece.path);
      return { type: "resource_link", name: piece.name || basename(path), uri: pathToFileURL(path).href };
    }
    case "image":
    case "localImage":
      if (!image) return problem(piece, "this agent takes no pictures");
      return piece.type === "image" ? addressed(piece) : stored(piece, resolve(cwd, piece.path));
  }
}

function addressed(piece: Extract<UserInput, { type: "image" }>): ContentBlock {
  const data = /^data:(image\/[a-z.+-]+);base64,/i.exec(piece.url);
  if (data?.[1] === undefined)
    return problem(piece, "pictures are not fetched from the web, give the file itself");
  const encoded = piece.url.slice(data[0].length);
  if (encoded.length > (PICTURE_BYTES / 3) * 4 + 4) return problem(piece, "it is too large");
  return { type: "image", mimeType: data[1].toLowerCase(), data: encoded };
}

async function stored(piece: UserInput, path: string): Promise<ContentBlock> {
  // Expected: a file that is not there or may not be read.
  try {
    const found = await lstat(path);
    if (!found.isFile()) return problem(piece, "it is no plain file");
    if (found.size > PICTURE_BYTES) return problem(piece, "it is too large");
    const bytes = await readFile(path);
    const mimeType = mediaTypeOf(bytes);
    if (mimeType === undefined) return problem(piece, "it is no PNG, JPEG, GIF or WebP picture");
    return { type: "image", mimeType, data: bytes.toString("base64") };
  } catch (thrown) {
    return problem(piece, thrown instanceof Error ? thrown.message : String(thrown));
  }
}

function problem(piece: UserInput, reason: string): ContentBlock {
  return textBlock(`(${inputText([piece])}: ${reason}.)`);
}

/** The kind is told by the content; a name may be wrong. */
function mediaTypeOf(bytes: Buffer): string | undefined {
  const start = bytes.toString("latin1", 0, 12);
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(start)) return "image/gif";
  return /^RIFF.{4}WEBP/s.test(start) ? "image/webp" : undefined;
}
