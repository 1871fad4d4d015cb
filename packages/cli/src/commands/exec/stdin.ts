import { fstatSync } from "node:fs";
import { LIMITS } from "@flint/protocol";
import { UsageError } from "../arguments.ts";

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
