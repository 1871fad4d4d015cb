import { lstat, readFile } from "node:fs/promises";

/**
 * How often a sandbox is arranged for one command at most. A socket that is gone between the look and the mount makes it
 * fail, and then nothing has run yet: it is looked again.
 */
export const MOST_LOOKS = 5;

/** More than any machine has outside of the folders that are covered anyway. */
const MOST = 200;

/**
 * The sockets in the file system that something of this machine is bound to. A read-only mount does not keep a
 * command from connecting to them, and whoever listens there acts with more rights than the command has.
 */
export async function boundSockets(isRelevant: (path: string) => boolean): Promise<string[]> {
  const relevant = pathsIn(await boundNames())
    .filter(isRelevant)
    .slice(0, MOST);
  const found = await Promise.all(relevant.map(isSocket));
  return relevant.filter((_, at) => found[at]);
}

/** All names that sockets of this machine are bound to, as the kernel lists them. Rejects if it lists none to us. */
export async function boundNames(): Promise<string> {
  // Expected: a system without that list. What cannot be read for another reason could hide a socket from being covered.
  return readFile("/proc/net/unix", "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
}

/** The paths among these names, each once. */
export function pathsIn(names: string): string[] {
  const paths = names.split("\n").map(pathOf);
  return [...new Set(paths.filter((path) => path !== undefined))];
}

/** Seven columns, then the path, if it has one; names that are no paths begin with an at sign. */
function pathOf(line: string): string | undefined {
  return /^(?:\S+\s+){7}(\/.*)$/.exec(line)?.[1];
}

function isSocket(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isSocket(),
    () => false,
  );
}
