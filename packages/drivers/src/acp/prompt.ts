import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import { type ImageInput, readImage } from "@flint/host/files";
import { inputText, type UserInput } from "@flint/protocol";

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
      return picture(piece, cwd);
  }
}

async function picture(image: ImageInput, cwd: string): Promise<ContentBlock> {
  const read = await readImage(image, cwd);
  if ("problem" in read) return problem(image, read.problem);
  return { type: "image", mimeType: read.mediaType, data: read.base64 };
}

function problem(piece: UserInput, reason: string): ContentBlock {
  return textBlock(`(${inputText([piece])}: ${reason}.)`);
}
