import { fileURLToPath } from "node:url";
import { FlintError, type UserInput } from "@flint/protocol";
import type { PromptBlock } from "../requests.ts";

/** How many characters one embedded file may hold. */
export const LONGEST_RESOURCE = 512 * 1024;
/** What one picture may weigh before it is written as text. */
const LARGEST_PICTURE = 3_750_000;
const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/;

/** What a prompt holds, for the core. Throws `invalidParams` that names the block which cannot be taken, and why. */
export function inputOf(prompt: readonly PromptBlock[]): UserInput[] {
  return prompt.map((block, index) => pieceOf(block, `prompt[${index}]`));
}

function pieceOf(block: PromptBlock, field: string): UserInput {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return picture(block.mimeType, block.data, field);
    case "audio":
      throw refused(field, "Flint takes no audio. Send it as text.");
    case "resource_link":
      return linked(block.name, block.uri);
    case "resource":
      return embedded(block.resource, field);
  }
}

function picture(mimeType: string, data: string, field: string): UserInput {
  if (!PICTURE.test(mimeType))
    throw refused(field, `${mimeType} is no picture; PNG, JPEG, GIF and WebP are.`);
  const bytes = Math.floor((data.length * 3) / 4);
  if (bytes > LARGEST_PICTURE) {
    throw refused(
      field,
      `The picture has ${bytes} bytes; at most ${LARGEST_PICTURE} are taken. Make it smaller.`,
    );
  }
  return { type: "image", url: `data:${mimeType};base64,${data}` };
}

/** A file of this machine is a mention, which agents read themselves; any other address is only named. */
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
    if (text.length <= LONGEST_RESOURCE) {
      return { type: "text", text: contextText(uri, text) };
    }
    const problem = `${uri} has ${text.length} characters; at most ${LONGEST_RESOURCE} are taken. Send a resource_link instead.`;
    throw refused(field, problem);
  }
  if (typeof blob !== "string") throw refused(field, "A resource has either text or blob.");
  if (typeof mimeType === "string" && PICTURE.test(mimeType)) return picture(mimeType, blob, field);
  throw refused(field, `${uri} is binary (${mimeType ?? "of no known kind"}). Send a resource_link instead.`);
}

/** A file inside a prompt, with a beginning and an end that an agent can see. */
export function contextText(uri: string, text: string): string {
  return `<context uri=${JSON.stringify(uri)}>\n${text}\n</context>`;
}

function pathOf(uri: string): string | undefined {
  if (uri.startsWith("/")) return uri;
  if (!uri.startsWith("file://")) return undefined;
  // Expected: an address that only looks like that of a file.
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

function refused(field: string, problem: string): FlintError {
  return new FlintError("invalidParams", problem, { field });
}
