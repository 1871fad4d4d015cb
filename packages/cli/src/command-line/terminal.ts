import { readFileSync } from "node:fs";

/** Reports whether a user at this terminal can answer a question. */
export function isInteractive(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true && isInForeground();
}

/**
 * Reports whether this process is in the terminal's foreground group. The system stops a background process
 * that reads keys. Without `/proc` it is assumed to be in the foreground.
 */
export function isInForeground(): boolean {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    // After the name in parentheses, which may contain anything: state, parent, group, session, terminal, its group.
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return group === foreground;
  } catch {
    // Not Linux.
    return true;
  }
}

/** Asks for one line on the terminal; undefined without a user, or when the question was withdrawn. */
export async function askLine(question: string, signal?: AbortSignal): Promise<string | undefined> {
  if (!isInteractive()) return undefined;
  // Most runs never ask.
  const { createInterface } = await import("node:readline/promises");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(question, signal === undefined ? {} : { signal })).trim();
  } catch {
    // The question was answered elsewhere, or the input ended.
    return undefined;
  } finally {
    terminal.close();
  }
}
