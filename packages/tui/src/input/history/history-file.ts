import { readFileSync, statSync } from "node:fs";
import { isRecord } from "@flint/protocol";
import { appendLine, replaceFile } from "./private-file.ts";
import type { SentPrompt } from "./prompt-history.ts";

/** The file is cut to the newest prompts when it is larger than this. */
const MAX_BYTES = 4 * 1024 * 1024;
const KEPT_BYTES = 2 * 1024 * 1024;
const MAX_PROMPTS = 5_000;

/** A longer prompt is mostly a paste, and not kept. */
const MAX_PROMPT = 100_000;

/**
 * The prompts of all sessions, in a file that only its user can read. Several terminals may add to it at once. A prompt
 * that begins with a space is never stored, as in shells. Damaged lines are skipped.
 */
export class HistoryFile {
  readonly #path: string;
  #last: SentPrompt | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** All prompts, oldest first. Empty if there is no file, or one that cannot be read. */
  read(): readonly SentPrompt[] {
    const text = readText(this.#path);
    const lines = text.split("\n").filter((line) => line !== "");
    const prompts = lines.slice(-MAX_PROMPTS).flatMap((line) => promptOf(line) ?? []);
    if (text.length > MAX_BYTES) this.#shorten(lines, text);
    this.#last = prompts.at(-1);
    return prompts;
  }

  /** Adds a prompt. False if it is not stored: it begins with a space, repeats the last one, or is too large. */
  add({ text, folder }: SentPrompt): boolean {
    if (/^\s|^$/.test(text) || text.length > MAX_PROMPT) return false;
    if (this.#last?.text === text && this.#last.folder === folder) return false;
    this.#last = { text, folder };
    return appendLine(this.#path, JSON.stringify({ text, folder }));
  }

  /** Keeps the newest lines, unless another terminal has added one meanwhile; the next session tries again. */
  #shorten(lines: readonly string[], text: string): void {
    let size = 0;
    const kept = lines.toReversed().filter((line) => {
      size += line.length + 1;
      return size <= KEPT_BYTES;
    });
    if (sizeOf(this.#path) === Buffer.byteLength(text))
      replaceFile(this.#path, `${kept.reverse().join("\n")}\n`);
  }
}

function promptOf(line: string): SentPrompt | undefined {
  // Expected: half a line, from a full disk or a crash.
  try {
    const value: unknown = JSON.parse(line);
    if (!isRecord(value) || typeof value.text !== "string" || typeof value.folder !== "string")
      return undefined;
    return { text: value.text, folder: value.folder };
  } catch {
    return undefined;
  }
}

function readText(path: string): string {
  // Expected: no file yet, or one that may not be read.
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}
