import { fileURLToPath } from "node:url";
import { FlintError, type UserInput } from "@flint/protocol";
import type { PromptBlock } from "../requests.ts";
import { ReadTextFileResponse } from "../vocabulary.ts";

/** The number of characters that one embedded file may have. */
const LONGEST_RESOURCE = 512 * 1024;
/** The number of bytes that one image may have, before it is encoded as base64. */
const LARGEST_IMAGE = 3_750_000;
const IMAGE = /^image\/(?:png|jpeg|gif|webp)$/;

/** The blocks of a prompt as user input. Throws `invalidParams` that names a block which is not supported, and why. */
export function inputOf(prompt: readonly PromptBlock[]): UserInput[] {
  return prompt.map((block, index) => pieceOf(block, `prompt[${index}]`));
}

function pieceOf(block: PromptBlock, field: string): UserInput {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return image(block.mimeType, block.data, field);
    case "audio":
      throw invalid(field, "Flint does not support audio. Send the prompt as text.");
    case "resource_link":
      return linked(block.name, block.uri);
    case "resource":
      return embedded(block.resource, field);
  }
}

function image(mimeType: string, data: string, field: string): UserInput {
  if (!IMAGE.test(mimeType))
    throw invalid(field, `${mimeType} is not a supported image type. Send PNG, JPEG, GIF or WebP.`);
  const bytes = Math.floor((data.length * 3) / 4);
  if (bytes > LARGEST_IMAGE)
    throw invalid(field, `The image has ${bytes} bytes; the limit is ${LARGEST_IMAGE}. Send a smaller one.`);
  return { type: "image", url: `data:${mimeType};base64,${data}` };
}

/** A local file is a mention, which agents read themselves; any other URI is passed on as text. */
function linked(name: string, uri: string): UserInput {
  const path = pathOf(uri);
  return path === undefined ? { type: "text", text: `[${name}](${uri})` } : { type: "mention", name, path };
}

function embedded(
  resource: Extract<PromptBlock, { type: "resource" }>["resource"],
  field: string,
): UserInput {
  const { uri, text, blob, mimeType } = resource;
  if (typeof text === "string") {
    if (text.length <= LONGEST_RESOURCE) return { type: "text", text: contextText(uri, text) };
    const problem = `${uri} has ${text.length} characters; the limit is ${LONGEST_RESOURCE}.`;
    throw invalid(field, `${problem} Send a resource_link instead.`);
  }
  if (typeof blob !== "string") throw invalid(field, "A resource needs either text or blob.");
  if (typeof mimeType === "string" && IMAGE.test(mimeType)) return image(mimeType, blob, field);
  throw invalid(field, `${uri} is binary (${mimeType ?? "unknown type"}). Send a resource_link instead.`);
}

/** A file inside a prompt, delimited so that the agent sees where it starts and ends. */
function contextText(uri: string, text: string): string {
  return `<context uri=${JSON.stringify(uri)}>\n${text}\n</context>`;
}

function pathOf(uri: string): string | undefined {
  if (uri.startsWith("/")) return uri;
  if (!uri.startsWith("file://")) return undefined;
  // Expected: a URI that only looks like that of a file.
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

function invalid(field: string, problem: string): FlintError {
  return new FlintError("invalidParams", problem, { field });
}

/** Requests a file from the editor. */
export type ReadEditorFile = (path: string) => Promise<unknown>;

/** The input with the editor's text of each mentioned file after its mention, where the editor provides it. */
export async function withEditorFiles(
  input: readonly UserInput[],
  read: ReadEditorFile,
): Promise<readonly UserInput[]> {
  const pieces = await Promise.all(input.map(async (piece) => [piece, ...(await editorText(piece, read))]));
  return pieces.flat();
}

async function editorText(piece: UserInput, read: ReadEditorFile): Promise<readonly UserInput[]> {
  if (piece.type !== "mention") return [];
  // Expected: an editor that does not have the file, or refuses.
  const response = await read(piece.path).catch(() => undefined);
  const parsed = ReadTextFileResponse.safeParse(response);
  if (!parsed.success || parsed.data.content.length > LONGEST_RESOURCE) return [];
  return [{ type: "text", text: contextText(piece.path, parsed.data.content) }];
}
