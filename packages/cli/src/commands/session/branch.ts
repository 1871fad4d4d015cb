import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** The branch that is checked out in a folder, else the start of the commit; undefined outside of a repository. */
export function branchOf(folder: string): string | undefined {
  const head = gitHead(folder);
  const [, branch] = /^ref: refs\/heads\/(.+)$/m.exec(head ?? "") ?? [];
  return branch ?? head?.slice(0, 7);
}

/** The content of `HEAD` of the repository that a folder belongs to. */
function gitHead(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const git = join(at, ".git");
    // In a worktree it is a file that names the folder.
    const [, elsewhere] = /^gitdir: (.+)$/m.exec(readText(git) ?? "") ?? [];
    const head = readText(join(elsewhere === undefined ? git : resolve(at, elsewhere), "HEAD"));
    if (head !== undefined || at === dirname(at)) return head?.trim();
  }
}

/** A pipe or a device in place of a file must not hold up the session, nor fill the memory. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
const MAX_BYTES = 1_048_576;

/** The text of a small file; undefined if it is absent, anything else than a plain file, too large or not readable. */
export function readText(path: string): string | undefined {
  // Expected: any of these.
  try {
    const file = openSync(path, READ);
    try {
      const found = fstatSync(file);
      if (!found.isFile() || found.size > MAX_BYTES) return undefined;
      const bytes = Buffer.alloc(found.size);
      return bytes.toString("utf8", 0, readSync(file, bytes));
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}
