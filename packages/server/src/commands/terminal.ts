import { createInterface } from "node:readline/promises";

/** Whether somebody sits at this terminal who could answer. */
export function someoneIsThere(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Asks one line on the terminal; undefined when nobody is there or the question was taken back. */
export async function askLine(question: string, signal?: AbortSignal): Promise<string | undefined> {
  if (!someoneIsThere()) return undefined;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(question, signal === undefined ? {} : { signal })).trim();
  } catch {
    // The question was answered elsewhere or the input ended.
    return undefined;
  } finally {
    terminal.close();
  }
}

const ESCAPES: Readonly<Record<string, string>> = { "\n": "\n", "\t": "\t" };

/**
 * Text from an agent, made safe for a terminal: control characters, escape sequences and characters that turn the
 * writing direction are shown by their number instead of being obeyed.
 */
export function visible(text: string): string {
  return text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach the terminal
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
    (character) => ESCAPES[character] ?? `\\u{${character.charCodeAt(0).toString(16)}}`,
  );
}
