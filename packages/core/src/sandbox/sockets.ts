import { lstat, readFile } from "node:fs/promises";

/** More than any machine has outside of the folders that are covered anyway. */
const MOST = 200;

/**
 * The sockets in the file system that something of this machine is bound to. A read-only mount does not keep a
 * command from connecting to them, and whoever listens there acts with more rights than the command has.
 */
export async function boundSockets(isRelevant: (path: string) => boolean): Promise<string[]> {
  const listed = await readFile("/proc/net/unix", "utf8").catch(() => "");
  const paths = new Set(
    listed
      .split("\n")
      .map(pathOf)
      .filter((path) => path !== undefined),
  );
  const relevant = [...paths].filter(isRelevant).slice(0, MOST);
  const found = await Promise.all(relevant.map(isSocket));
  return relevant.filter((_, at) => found[at]);
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
