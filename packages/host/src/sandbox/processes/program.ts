import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { targetExists } from "../../files/path-kinds.ts";

/** A problem with starting a program, with the message and exit code of a shell. */
export interface StartProblem {
  readonly message: string;
  readonly exitCode: number;
}

/** Finds an executable file by its name in a search path. */
export async function findProgram(name: string, searchPath: string): Promise<string | undefined> {
  for (const folder of searchPath.split(":")) {
    const file = join(folder === "" ? "." : folder, name);
    if (await isProgram(file)) return file;
  }
  return undefined;
}

/** Checks that folder and program exist before starting, so that errors do not depend on the wrapper. */
export async function startProblem(
  program: string,
  cwd: string,
  searchPath: string,
): Promise<StartProblem | undefined> {
  if (!(await isFolder(cwd))) return { message: `${cwd}: no such folder to run in`, exitCode: 126 };
  if (!program.includes("/")) {
    const found = await findProgram(program, searchPath);
    return found === undefined ? { message: `${program}: command not found`, exitCode: 127 } : undefined;
  }
  const file = resolve(cwd, program);
  if (!(await targetExists(file))) return { message: `${program}: No such file or directory`, exitCode: 127 };
  return (await isProgram(file)) ? undefined : { message: `${program}: Permission denied`, exitCode: 126 };
}

async function isProgram(file: string): Promise<boolean> {
  return (await isReachable(file, constants.X_OK)) && (await stat(file)).isFile();
}

async function isFolder(path: string): Promise<boolean> {
  return (await targetExists(path)) && (await stat(path)).isDirectory();
}

function isReachable(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
