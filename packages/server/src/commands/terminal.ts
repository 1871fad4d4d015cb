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
