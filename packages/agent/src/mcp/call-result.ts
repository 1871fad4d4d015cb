import { truncate } from "@flint/core/text";
import { isRecord } from "@flint/protocol";
import { boundedJson, cutMiddle } from "./bounded-json.ts";

/** What came of a call: what is kept to be shown, and what the model is told. */
export interface CallResult {
  readonly isError: boolean;
  readonly result: unknown;
  readonly text: string;
}

/** One piece of an answer, likewise. */
interface Piece {
  readonly kept: unknown;
  readonly text: string;
}

/** How much of an answer the model sees. */
export const MAX_MODEL_TEXT = 50_000;

const KEPT_BOUNDS = { depth: 32, characters: 256 * 1024 };
const MOST_PIECES = 200;
const LONGEST_LABEL = 1000;

/** Reads the result of a tool call, of whatever shape it came. */
export function readCallResult(raw: unknown): CallResult {
  const { content, structuredContent, isError } = isRecord(raw) ? raw : {};
  const blocks = Array.isArray(content) ? content.slice(0, MOST_PIECES) : [];
  const pieces = blocks.map(readBlock);
  const omitted = Array.isArray(content) ? content.length - blocks.length : 0;
  const texts = [
    ...pieces.map((piece) => piece.text),
    ...(omitted === 0 ? [] : [`(${omitted} more left out)`]),
  ];
  const structured =
    structuredContent === undefined ? undefined : boundedJson(structuredContent, KEPT_BOUNDS);
  // A server that gives structure is asked to give it as text too; only if it did not is it told from here.
  if (texts.length === 0 && structured !== undefined) texts.push(JSON.stringify(structured));
  const kept = {
    content: pieces.map((piece) => piece.kept),
    ...(structured === undefined ? {} : { structuredContent: structured }),
  };
  return {
    isError: isError === true,
    result: boundedJson(kept, KEPT_BOUNDS),
    text: cutMiddle(texts.join("\n"), MAX_MODEL_TEXT) || "(no content)",
  };
}

/** Reads the contents of a resource. */
export function readResourceResult(raw: unknown): CallResult {
  const contents = isRecord(raw) && Array.isArray(raw.contents) ? raw.contents.slice(0, MOST_PIECES) : [];
  const pieces = contents.map((content) => readResource(content));
  return {
    isError: false,
    result: boundedJson({ contents: pieces.map((piece) => piece.kept) }, KEPT_BOUNDS),
    text: cutMiddle(pieces.map((piece) => piece.text).join("\n"), MAX_MODEL_TEXT) || "(no content)",
  };
}

function readBlock(block: unknown): Piece {
  if (!isRecord(block)) return unknownPiece("block");
  switch (block.type) {
    case "text": {
      const text = typeof block.text === "string" ? block.text : "";
      return { kept: { type: "text", text }, text };
    }
    case "image":
    case "audio":
      return binaryPiece(block.type, block.mimeType, block.data);
    case "resource_link":
      return linkPiece(block);
    case "resource": {
      const { kept, text } = readResource(block.resource);
      return { kept: { type: "resource", resource: kept }, text };
    }
    default:
      return unknownPiece(label(block.type) || "block");
  }
}

function readResource(resource: unknown): Piece {
  if (!isRecord(resource)) return unknownPiece("resource");
  const uri = label(resource.uri);
  if (typeof resource.text === "string") return { kept: { uri, text: resource.text }, text: resource.text };
  const { kept, text } = binaryPiece("blob", resource.mimeType, resource.blob);
  return { kept: { uri, ...kept }, text: `${uri} ${text}` };
}

/** Images and other binary content are named but not stored. */
function binaryPiece(type: string, mimeType: unknown, base64: unknown) {
  const mediaType = label(mimeType) || "unknown type";
  const bytes = typeof base64 === "string" ? Math.floor((base64.length * 3) / 4) : 0;
  const kept = { type, mimeType: mediaType, bytes };
  return { kept, text: `[${type}, ${mediaType}, about ${bytes} bytes, not shown]` };
}

function linkPiece({ uri, name, title, mimeType }: Record<string, unknown>): Piece {
  const fields = { uri: label(uri), name: label(name), title: label(title), mimeType: label(mimeType) };
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ""));
  return {
    kept: { type: "resource_link", ...given },
    text: `[resource ${fields.uri}${fields.name === "" ? "" : ` (${fields.name})`}]`,
  };
}

function unknownPiece(type: string): Piece {
  return { kept: { type: "unknown", was: type }, text: `[${type} that cannot be shown]` };
}

function label(value: unknown): string {
  return typeof value === "string" ? truncate(value, LONGEST_LABEL) : "";
}
