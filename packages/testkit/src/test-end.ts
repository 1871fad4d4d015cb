import { onTestFinished } from "vitest";

const atExit = new Set<() => void>();

/**
 * Cleans up when the running test has ended, whatever came of it. Outside of a test, such as in `beforeAll`, only
 * `lastResort` is kept, for the end of the process; the caller cleans up before.
 */
export function atTestEnd(cleanUp: () => Promise<void>, lastResort: () => void): void {
  try {
    onTestFinished(cleanUp);
  } catch {
    // Thrown by vitest when no test runs. There is no way to ask beforehand.
    keepForExit(lastResort);
  }
}

function keepForExit(action: () => void): void {
  if (atExit.size === 0) process.once("exit", runAll);
  atExit.add(action);
}

function runAll(): void {
  for (const action of atExit) action();
  atExit.clear();
}
