import { toUSVString } from "node:util";
import { truncate } from "@flint/core/text";
import { isRecord } from "@flint/protocol";

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

/** How much of a result the model gets. */
export const MAX_MODEL_TEXT = 50_000;

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
    text: cutMiddle(texts.join("\n"), MAX_MODEL_TEXT) || "(no content)",
  };
}

/** Reads the contents of a resource. */
export function readResourceResult(raw: unknown): CallResult {
  const contents = isRecord(raw) && Array.isArray(raw.contents) ? raw.contents.slice(0, MAX_BLOCKS) : [];
  const pieces = contents.map((content) => readResource(content));
  return {
    isError: false,
    result: boundedJson({ contents: pieces.map((piece) => piece.stored) }, STORED_BOUNDS),
    text: cutMiddle(pieces.map((piece) => piece.text).join("\n"), MAX_MODEL_TEXT) || "(no content)",
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

const LEFT_OUT = "… left out …";

/** The cost of a value without text, about its length in JSON. */
const VALUE_COST = 8;

/** The bounds of a JSON value. */
export interface JsonBounds {
  readonly depth: number;
  /** All strings of it together. */
  readonly characters: number;
}

/** Cuts the middle out of a text that is too long, with a line about how much is missing. */
export function cutMiddle(text: string, limit: number): string {
  if (text.length <= limit) return toUSVString(text);
  const head = wholeCharacters(text.slice(0, Math.floor(limit * 0.75)));
  const tail = text.slice(text.length - Math.floor(limit * 0.2)).replace(/^[\udc00-\udfff]/, "");
  const omitted = text.length - head.length - tail.length;
  return `${head}\n… ${omitted} characters left out …\n${toUSVString(tail)}`;
}

/** Whether a JSON value is within the bounds. */
export function fits(value: unknown, { depth, characters }: JsonBounds): boolean {
  return isWithin(value, depth) && (JSON.stringify(value) ?? "").length <= characters;
}

/** Copies a JSON value within the bounds, with well-formed strings; what is missing is marked. */
export function boundedJson(value: unknown, bounds: JsonBounds): unknown {
  return new Copy(bounds.characters).of(value, bounds.depth);
}

/** Copies an object with all its strings well-formed. */
export function wellFormedObject(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return new Copy(Number.POSITIVE_INFINITY).members(value, Number.POSITIVE_INFINITY);
}

class Copy {
  #left: number;

  constructor(characters: number) {
    this.#left = characters;
  }

  of(value: unknown, depth: number): unknown {
    if (typeof value === "string") return this.#text(value);
    if (Array.isArray(value)) return depth === 0 ? LEFT_OUT : this.#list(value, depth);
    if (isRecord(value)) return depth === 0 ? LEFT_OUT : this.members(value, depth);
    this.#left -= VALUE_COST;
    return value;
  }

  members(value: Readonly<Record<string, unknown>>, depth: number): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    for (const [key, member] of Object.entries(value)) {
      if (key === "__proto__") continue;
      if (this.#left <= 0) {
        entries.push(["…", LEFT_OUT]);
        break;
      }
      entries.push([this.#text(key), this.of(member, depth - 1)]);
    }
    return Object.fromEntries(entries);
  }

  #list(values: readonly unknown[], depth: number): unknown[] {
    const copies: unknown[] = [];
    for (const value of values) {
      if (this.#left <= 0) {
        copies.push(LEFT_OUT);
        break;
      }
      copies.push(this.of(value, depth - 1));
    }
    return copies;
  }

  #text(text: string): string {
    const kept = truncate(text, Math.max(1, this.#left));
    this.#left -= kept.length + 2;
    return kept;
  }
}

function isWithin(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => isWithin(inner, depth - 1));
}

function wholeCharacters(text: string): string {
  return toUSVString(text.replace(/[\ud800-\udbff]$/, ""));
}
