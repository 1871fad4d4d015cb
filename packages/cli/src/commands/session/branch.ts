import { readFileSync } from "node:fs";
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

/** The text of a small file; undefined if it is absent, a folder, or not readable. */
export function readText(path: string): string | undefined {
  // Expected: any of these.
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
