import { fstatSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { LIMITS, type UserInput } from "@flint/protocol";
import { UsageError } from "../../command-line/arguments.ts";
import { type Schema, schemaFault } from "./schema.ts";

const NEEDS_PROMPT = 'exec needs a prompt: flint exec "what is in this folder?"';

/**
 * The prompt and what was piped in, as pieces of one input. `-` as the prompt is what was piped; beside another prompt
 * that is context.
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

/** Reads the schema that the answer shall fit. */
export async function readSchema(path: string): Promise<Schema> {
  const text = await readFile(path, "utf8").catch((cause: Error) => {
    throw new UsageError(`--output-schema ${path} cannot be read: ${cause.message}`);
  });
  const value = parsed(text, path);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError(`--output-schema ${path} must hold a JSON Schema, which is an object.`);
  }
  const fault = schemaFault(value);
  if (fault !== undefined) throw new UsageError(`--output-schema ${path} is no JSON Schema: ${fault}.`);
  return { ...value };
}

function parsed(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The user's file; what is wrong with it is what they need to know.
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`--output-schema ${path} is not JSON: ${reason}`);
  }
}

function asContext(text: string): string {
  return `<stdin>\n${text.replace(/\n$/, "")}\n</stdin>`;
}

/** After this long without an end, whoever waits is told what for. */
const PATIENCE_MS = 1_000;

/** What is needed of standard input. */
export interface InputSource extends AsyncIterable<Buffer | string> {
  readonly isTTY?: boolean | undefined;
}

/** Whether something is piped or redirected into this program; a terminal, `/dev/null` or nothing at all is not. */
export function isPiped(source: { readonly isTTY?: boolean | undefined }, descriptor = 0): boolean {
  if (source.isTTY === true) return false;
  try {
    const stats = fstatSync(descriptor);
    return stats.isFIFO() || stats.isFile() || stats.isSocket();
  } catch {
    // It was closed before we came.
    return false;
  }
}

/** Everything that is piped in, as text. Refuses what is more than a prompt may be, and what is no text. */
export async function readPiped(source: InputSource, tell: (text: string) => void): Promise<string> {
  const timer = setTimeout(() => {
    tell("Reading standard input until it ends; start with </dev/null if there is none.\n");
  }, PATIENCE_MS);
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

/** What to say about a text that is too long to be sent. */
export function tooLong(what: string, size: string): UsageError {
  return new UsageError(
    `${what} has ${size} bytes; a prompt can have ${LIMITS.prompt}. Send a part of it, or name a file that the agent can read.`,
  );
}

function asText(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // Only text can be sent.
    throw new UsageError("Standard input is not UTF-8 text; put it into a file and name that instead.");
  }
}

/** Larger pictures are refused by the models themselves, after they have been sent. */
const SIZE_LIMIT = 20 * 1024 * 1024;

/** What the first bytes of a picture are; `at` is where they stand. */
const KINDS: readonly { readonly name: string; readonly at: number; readonly bytes: Buffer }[] = [
  { name: "png", at: 0, bytes: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) },
  { name: "jpeg", at: 0, bytes: Buffer.from([0xff, 0xd8, 0xff]) },
  { name: "gif", at: 0, bytes: Buffer.from("GIF8", "latin1") },
  { name: "webp", at: 8, bytes: Buffer.from("WEBP", "latin1") },
];

/** The kind of a picture by its first bytes, whatever its name is; undefined if it is none that models see. */
export function imageKind(head: Uint8Array): string | undefined {
  return KINDS.find(({ at, bytes }) => bytes.equals(head.subarray(at, at + bytes.length)))?.name;
}

/** A file as a picture to send along. Refuses what is not there, is no picture, or is too large. */
export async function imageInput(path: string): Promise<UserInput> {
  const whole = resolve(path);
  const { head, size } = await beginningOf(path, whole);
  if (imageKind(head) === undefined) {
    throw new UsageError(`--image ${path} is not a picture; png, jpeg, gif and webp can be sent.`);
  }
  if (size > SIZE_LIMIT) {
    const limit = `${SIZE_LIMIT / 1024 / 1024} MiB`;
    throw new UsageError(`--image ${path} has ${size} bytes; at most ${limit} can be sent. Make it smaller.`);
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
    // Not there, not readable, or a folder: the reason of the system says which.
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`--image ${path} cannot be read: ${reason}`);
  }
}
