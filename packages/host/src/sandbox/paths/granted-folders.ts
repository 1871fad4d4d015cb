import { constants } from "node:fs";
import { mkdir, open, readlink } from "node:fs/promises";
import { basename, dirname } from "node:path";

/**
 * Creates the folders that a command was allowed to write before they existed. One that existed when the user was asked is
 * not created again: it was removed since.
 */
export async function createGranted(
  paths: readonly string[],
  identities: Readonly<Record<string, string>> = {},
): Promise<void> {
  for (const path of paths) if (!Object.hasOwn(identities, path)) await createFolder(path);
}

/** Creates a folder and what is missing around it, and follows no link. If it cannot, the command is rejected later. */
async function createFolder(path: string): Promise<void> {
  const parent = dirname(path);
  if (parent === path) return;
  // Expected: something is missing or in the way, or a link leads elsewhere. What is created is checked before it is used.
  const opened = await openFolder(parent).catch(async () => {
    await createFolder(parent);
    return openFolder(parent).catch(() => undefined);
  });
  if (opened === undefined) return;
  try {
    const own = `/proc/self/fd/${opened.fd}`;
    if ((await readlink(own)) === parent) await mkdir(`${own}/${basename(path)}`).catch(() => undefined);
  } finally {
    await opened.close();
  }
}

/** The folder stays the one that was opened, whatever is put in its place. */
function openFolder(path: string) {
  return open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
}
