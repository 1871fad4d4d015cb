import { cutMiddle, toWellFormed, truncate } from "@flint/core/text";
import { isRecord } from "@flint/protocol";
import { boundedJson } from "../bounded-json.ts";

/** The result of a call: what is stored with the item, and the text for the model. */
export interface CallResult {
  readonly isError: boolean;
  readonly result: unknown;
  readonly text: string;
}

/** One content block of a result, likewise. */
interface Block {
  readonly stored: unknown;
  readonly text: string;
}

/** Maximum length of a result for the model. */
export const MAX_MODEL_TEXT = 50_000;

/** A result as the model gets it: well-formed, without its middle if it is too long. */
export function modelText(text: string): string {
  return cutMiddle(toWellFormed(text), MAX_MODEL_TEXT, "characters").text;
}

const STORED_BOUNDS = { depth: 32, characters: 256 * 1024 };
const MAX_BLOCKS = 200;
const MAX_LABEL = 1000;

/** Reads the result of a tool call without trusting its shape. */
export function readCallResult(raw: unknown): CallResult {
  const { content, structuredContent, isError } = isRecord(raw) ? raw : {};
  const blocks = Array.isArray(content) ? content.slice(0, MAX_BLOCKS) : [];
  const pieces = blocks.map(readBlock);
  const omitted = Array.isArray(content) ? content.length - blocks.length : 0;
  const texts = [
    ...pieces.map((piece) => piece.text),
    ...(omitted === 0 ? [] : [`(${omitted} more left out)`]),
  ];
  const structured =
    structuredContent === undefined ? undefined : boundedJson(structuredContent, STORED_BOUNDS);
  // Servers should send structured content as text too; if one does not, it is formatted here.
  if (texts.length === 0 && structured !== undefined) texts.push(JSON.stringify(structured));
  const stored = {
    content: pieces.map((piece) => piece.stored),
    ...(structured === undefined ? {} : { structuredContent: structured }),
  };
  return {
    isError: isError === true,
    result: boundedJson(stored, STORED_BOUNDS),
    text: modelText(texts.join("\n")) || "(no content)",
  };
}

/** Reads the contents of a resource. */
export function readResourceResult(raw: unknown): CallResult {
  const contents = isRecord(raw) && Array.isArray(raw.contents) ? raw.contents.slice(0, MAX_BLOCKS) : [];
  const pieces = contents.map((content) => readResource(content));
  return {
    isError: false,
    result: boundedJson({ contents: pieces.map((piece) => piece.stored) }, STORED_BOUNDS),
    text: modelText(pieces.map((piece) => piece.text).join("\n")) || "(no content)",
  };
}

function readBlock(block: unknown): Block {
  if (!isRecord(block)) return unknownBlock("block");
  switch (block.type) {
    case "text": {
      const text = typeof block.text === "string" ? block.text : "";
      return { stored: { type: "text", text }, text };
    }
    case "image":
    case "audio":
      return binaryBlock(block.type, block.mimeType, block.data);
    case "resource_link":
      return linkBlock(block);
    case "resource": {
      const { stored, text } = readResource(block.resource);
      return { stored: { type: "resource", resource: stored }, text };
    }
    default:
      return unknownBlock(label(block.type) || "block");
  }
}

function readResource(resource: unknown): Block {
  if (!isRecord(resource)) return unknownBlock("resource");
  const uri = label(resource.uri);
  if (typeof resource.text === "string") return { stored: { uri, text: resource.text }, text: resource.text };
  const { stored, text } = binaryBlock("blob", resource.mimeType, resource.blob);
  return { stored: { uri, ...stored }, text: `${uri} ${text}` };
}

/** Images and other binary content are named but not stored. */
function binaryBlock(type: string, mimeType: unknown, base64: unknown) {
  const mediaType = label(mimeType) || "unknown type";
  const bytes = typeof base64 === "string" ? Math.floor((base64.length * 3) / 4) : 0;
  const stored = { type, mimeType: mediaType, bytes };
  return { stored, text: `[${type}, ${mediaType}, about ${bytes} bytes, not shown]` };
}

function linkBlock({ uri, name, title, mimeType }: Record<string, unknown>): Block {
  const fields = { uri: label(uri), name: label(name), title: label(title), mimeType: label(mimeType) };
  const present = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ""));
  return {
    stored: { type: "resource_link", ...present },
    text: `[resource ${fields.uri}${fields.name === "" ? "" : ` (${fields.name})`}]`,
  };
}

function unknownBlock(type: string): Block {
  return { stored: { type: "unknown", was: type }, text: `[${type} that cannot be shown]` };
}

function label(value: unknown): string {
  return typeof value === "string" ? truncate(value, MAX_LABEL) : "";
}
