import { readFileSync } from "node:fs";

/** Whether somebody sits at this terminal who could answer. */
export function someoneIsThere(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true && isInForeground();
}

/**
 * Whether the terminal belongs to this program now. One in the background would be stopped by the system when it
 * reads keys; where there is no `/proc` it is taken to be in the foreground.
 */
export function isInForeground(): boolean {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    // Behind the name in brackets, which may hold anything: state, parent, group, session, terminal, its group.
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return group === foreground;
  } catch {
    // Another system than Linux.
    return true;
  }
}

/** Asks one line on the terminal; undefined when nobody is there or the question was taken back. */
export async function askLine(question: string, signal?: AbortSignal): Promise<string | undefined> {
  if (!someoneIsThere()) return undefined;
  // Most runs never ask.
  const { createInterface } = await import("node:readline/promises");
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
