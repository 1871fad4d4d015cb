import { lstat, readFile } from "node:fs/promises";

/**
 * How often a sandbox is set up for one command at most. A socket that vanishes between listing and mounting makes the
 * setup fail, before the command has run, so it is tried again.
 */
export const MAX_ATTEMPTS = 5;

/** More than any machine has outside of the folders that are masked anyway. */
const MAX_SOCKETS = 200;

/**
 * The sockets in the file system that a process is bound to. A read-only mount does not keep a command from connecting
 * to them, and the process behind it acts with more rights than the command has.
 */
export async function boundSockets(isRelevant: (path: string) => boolean): Promise<string[]> {
  const relevant = pathsIn(await boundNames())
    .filter(isRelevant)
    .slice(0, MAX_SOCKETS);
  const found = await Promise.all(relevant.map(isSocket));
  return relevant.filter((_, at) => found[at]);
}

/** The names of all bound sockets as the kernel lists them. Rejects if the list cannot be read. */
export async function boundNames(): Promise<string> {
  // Expected: a system without that list. Any other failure could leave a socket uncovered.
  return readFile("/proc/net/unix", "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
}

/** The file system paths among these names, without repeats. */
export function pathsIn(names: string): string[] {
  const paths = names.split("\n").map(pathOf);
  return [...new Set(paths.filter((path) => path !== undefined))];
}

/** Seven columns, then the path, if it has one; abstract names start with an at sign. */
function pathOf(line: string): string | undefined {
  return /^(?:\S+\s+){7}(\/.*)$/.exec(line)?.[1];
}

function isSocket(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isSocket(),
    () => false,
  );
}
