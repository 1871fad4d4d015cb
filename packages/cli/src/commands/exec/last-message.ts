import { accessSync, constants, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { UsageError } from "../../command-line/command.ts";
import { outputFile } from "../../command-line/output-file.ts";

/** Writes the last message to a file. A file that cannot be written is an error before the turn, not after it. */
export function lastMessageWriter(file: string): (text: string) => void {
  const problem = problemWith(resolve(file));
  if (problem !== undefined)
    throw new UsageError(`--output-last-message: cannot write ${file}: ${problem}. Name another file.`);
  return outputFile(file);
}

function problemWith(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return "it is a folder";
  const folder = dirname(path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    return `the folder ${folder} does not exist`;
  try {
    accessSync(found === undefined ? folder : path, constants.W_OK);
    return undefined;
  } catch {
    return "permission denied";
  }
}
