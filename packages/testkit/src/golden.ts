import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";

/**
 * Compares a whole value with a checked-in file. A name that ends in `.jsonl` holds one element of an array on each
 * line, any other name holds one value. `FLINT_UPDATE_GOLDEN=1` rewrites the file; without it a missing file fails.
 */
export function expectGolden(file: URL | string, value: unknown): void {
  const path = typeof file === "string" ? file : fileURLToPath(file);
  const format = path.endsWith(".jsonl") ? JSON_LINES : JSON_VALUE;
  const text = format.write(value);
  if (process.env.FLINT_UPDATE_GOLDEN === "1") {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return;
  }
  // Values are compared, not texts: a formatter may have been at the file, and what JSON cannot hold does not count.
  expect(format.read(text), `differs from ${path}`).toEqual(format.read(readGolden(path)));
}

const JSON_VALUE = {
  write: (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`,
  read: (text: string): unknown => JSON.parse(text),
};

const JSON_LINES = {
  write(value: unknown): string {
    if (!Array.isArray(value)) throw new Error("A .jsonl file holds an array; this is none.");
    return value.map((element) => `${JSON.stringify(element)}\n`).join("");
  },
  read: (text: string): unknown =>
    text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line): unknown => JSON.parse(line)),
};

function readGolden(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    // The usual reason is a new test; the way out belongs into the message.
    throw new Error(`${path} cannot be read. Run with FLINT_UPDATE_GOLDEN=1 to write it, then look at it.`, {
      cause: error,
    });
  }
}
