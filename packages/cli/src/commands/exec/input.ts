import { fstatSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { errorMessage, LIMITS, type UserInput } from "@flint/protocol";
import { UsageError } from "../../command-line/command.ts";
import { type Schema, schemaFault } from "./schema.ts";

const NEEDS_PROMPT = 'exec needs a prompt: flint exec "what is in this folder?"';

/**
 * The input of a turn: the prompt, and what was piped in. Piped text is the prompt if that is `-` or absent, and context
 * otherwise.
 */
export function textInput(positionals: readonly string[], piped: string | undefined): UserInput[] {
  const words = positionals.join(" ").trim();
  const context = piped?.trim() === "" ? undefined : piped;
  const fromInput = words === "-" || words === "";
  if (fromInput && context === undefined) {
    throw new UsageError(
      words === "-" ? 'exec - needs a prompt on standard input: echo "…" | flint exec -' : NEEDS_PROMPT,
    );
  }
  const texts = fromInput ? [context ?? ""] : context === undefined ? [words] : [words, asContext(context)];
  const size = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (size > LIMITS.prompt) throw tooLong("The prompt", String(size));
  return texts.map((text) => ({ type: "text", text }));
}

/** Reads the schema for the answer. */
export async function readSchema(path: string): Promise<Schema> {
  const text = await readFile(path, "utf8").catch((cause: Error) => {
    throw new UsageError(`Cannot read --output-schema ${path}: ${cause.message}`);
  });
  const value = parsed(text, path);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError(`--output-schema ${path} must be a JSON Schema object.`);
  }
  const fault = schemaFault(value);
  if (fault !== undefined)
    throw new UsageError(`--output-schema ${path} is not a valid JSON Schema: ${fault}.`);
  return { ...value };
}

function parsed(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The user's file: the parser's message helps them most.
    const reason = errorMessage(cause);
    throw new UsageError(`--output-schema ${path} is not JSON: ${reason}`);
  }
}

function asContext(text: string): string {
  return `<stdin>\n${text.replace(/\n$/, "")}\n</stdin>`;
}

/** After this long, a message says that standard input is being read. */
const NOTICE_MS = 1_000;

/** Standard input, or something like it. */
export interface InputSource extends AsyncIterable<Buffer | string> {
  readonly isTTY?: boolean | undefined;
}

/** Reports whether standard input is a pipe, a file or a socket, rather than a terminal or `/dev/null`. */
export function isPiped(source: { readonly isTTY?: boolean | undefined }, descriptor = 0): boolean {
  if (source.isTTY === true) return false;
  try {
    const stats = fstatSync(descriptor);
    return stats.isFIFO() || stats.isFile() || stats.isSocket();
  } catch {
    // It is closed.
    return false;
  }
}

/** Reads piped text to its end. Throws if it is too long for a prompt or not UTF-8. */
export async function readPiped(source: InputSource, log: (text: string) => void): Promise<string> {
  const timer = setTimeout(() => {
    log("Reading from standard input; use </dev/null if there is no input.\n");
  }, NOTICE_MS);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of source) {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
      size += bytes.length;
      if (size > LIMITS.prompt) throw tooLong("Standard input", `more than ${LIMITS.prompt}`);
      chunks.push(bytes);
    }
  } finally {
    clearTimeout(timer);
  }
  return asText(Buffer.concat(chunks));
}

/** The error for text that is too long for a prompt. */
export function tooLong(what: string, size: string): UsageError {
  return new UsageError(
    `${what} has ${size} bytes; the limit is ${LIMITS.prompt}. Shorten it, or refer to a file that the agent can read.`,
  );
}

function asText(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError("Standard input is not UTF-8 text. Save it to a file and refer to that instead.");
  }
}

/** Models reject larger images. */
const MAX_IMAGE_BYTES = 20 * 1024 * 1024;

/** The magic bytes of each image format, and their offset. */
const KINDS: readonly { readonly name: string; readonly at: number; readonly bytes: Buffer }[] = [
  { name: "png", at: 0, bytes: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) },
  { name: "jpeg", at: 0, bytes: Buffer.from([0xff, 0xd8, 0xff]) },
  { name: "gif", at: 0, bytes: Buffer.from("GIF8", "latin1") },
  { name: "webp", at: 8, bytes: Buffer.from("WEBP", "latin1") },
];

/** The format of an image by its magic bytes; undefined if models do not support it. */
export function imageKind(head: Uint8Array): string | undefined {
  return KINDS.find(({ at, bytes }) => bytes.equals(head.subarray(at, at + bytes.length)))?.name;
}

/** An image file as input. Throws if it cannot be read, is not a supported image, or is too large. */
export async function imageInput(path: string): Promise<UserInput> {
  const whole = resolve(path);
  const { head, size } = await beginningOf(path, whole);
  if (imageKind(head) === undefined) {
    throw new UsageError(`--image ${path} is not an image; png, jpeg, gif and webp are supported.`);
  }
  if (size > MAX_IMAGE_BYTES) {
    const limit = `${MAX_IMAGE_BYTES / 1024 / 1024} MiB`;
    throw new UsageError(`--image ${path} has ${size} bytes; the limit is ${limit}.`);
  }
  return { type: "localImage", path: whole };
}

async function beginningOf(path: string, whole: string): Promise<{ head: Uint8Array; size: number }> {
  try {
    const file = await open(whole);
    try {
      const head = Buffer.alloc(16);
      const { bytesRead } = await file.read(head, 0, head.length, 0);
      return { head: head.subarray(0, bytesRead), size: (await file.stat()).size };
    } finally {
      await file.close();
    }
  } catch (cause) {
    // The system's message says whether it is missing, unreadable or a folder.
    const reason = errorMessage(cause);
    throw new UsageError(`Cannot read --image ${path}: ${reason}`);
  }
}
