import { readFile } from "node:fs/promises";
import { LIMITS, type UserInput } from "@flint/protocol";
import { UsageError } from "../arguments.ts";
import { type Schema, schemaFault } from "./schema-fault.ts";
import { tooLong } from "./stdin.ts";

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
