import { access, constants, open } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { findOuterProgram, type OuterProgram, outerSearchPath } from "@flint/host/search-path";
import { inheritedEnvironment, setting } from "./environment.ts";

/** The absolute path of a program, given as a path or looked up in PATH or another search path. */
export async function findProgram(
  program: string,
  searchPath = setting("PATH") ?? "",
): Promise<string | undefined> {
  if (program === "") return undefined;
  if (program.includes("/")) return (await isExecutable(resolve(program))) ? resolve(program) : undefined;
  for (const folder of searchPath.split(delimiter).filter((entry) => isAbsolute(entry))) {
    const path = join(folder, program);
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

/** A program that may be started outside of the sandbox. */
export interface OutsideProgram extends OuterProgram {
  /** The command that runs it, if it is a script whose first line looks for an interpreter on PATH. */
  readonly interpreter?: readonly string[];
}

/**
 * Looks up a program that may be started outside of the sandbox: as the path that the user gave, or on PATH, but not in the
 * current folder, the workspace and their repositories. The same applies to the interpreter of a script.
 */
export async function outsideProgram(name: string, workspace?: string): Promise<OutsideProgram> {
  if (name === "") return {};
  const given = name.includes("/") ? await findProgram(name) : undefined;
  const found: OuterProgram = given === undefined ? await onPath(name, workspace) : { path: given };
  const [interpreter, ...args] = found.path === undefined ? [] : await interpreterOf(found.path);
  if (found.path === undefined || interpreter === undefined) return found;
  const { path, leftOut } = await onPath(interpreter, workspace);
  if (path !== undefined) return { path: found.path, interpreter: [path, ...args] };
  return leftOut === undefined ? found : { leftOut };
}

/** PATH without the folders of projects in which these are, for a program that looks up others by itself. */
export function outsideSearchPath(folders: readonly string[]): string {
  return outerSearchPath(setting("PATH") ?? "", folders);
}

/** The variables of such a program. */
export function outsideEnvironment(folders: readonly string[]): NodeJS.ProcessEnv {
  return { ...inheritedEnvironment(), PATH: outsideSearchPath(folders) };
}

async function onPath(name: string, workspace: string | undefined): Promise<OuterProgram> {
  if (name.includes("/")) return {};
  const folders = workspace === undefined ? [process.cwd()] : [process.cwd(), workspace];
  return findOuterProgram(name, setting("PATH") ?? "", folders);
}

const FIRST_LINE_BYTES = 256;

/** The words after `env` in a first line such as `#!/usr/bin/env node`; none if a program has no such line. */
async function interpreterOf(path: string): Promise<readonly string[]> {
  // Expected: a program that can be run but not read.
  const file = await open(path).catch(() => undefined);
  try {
    const read = await file?.read(Buffer.alloc(FIRST_LINE_BYTES), 0, FIRST_LINE_BYTES, 0);
    const start = read?.buffer.toString("latin1", 0, read.bytesRead) ?? "";
    const words = /^#! *\/usr\/bin\/env (?:-S )?(?<words>[^\n]+)\n/.exec(start)?.groups?.words;
    return words?.trim().split(/\s+/) ?? [];
  } finally {
    await file?.close();
  }
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
