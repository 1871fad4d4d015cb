import { basename, dirname } from "node:path";
import { boundNames, pathsIn } from "./bound-sockets.ts";
import { FolderSigns, type Sign } from "./folder-presence.ts";

/**
 * Says to all Flint servers of this machine, of every state folder, that one of them listens at a path. To be hung out
 * before the socket is made: no sandbox then finds it there without the sign.
 */
export async function signListening(path: string): Promise<Sign> {
  const signs = await FolderSigns.of(dirname(path));
  return signs.hangOut("listens", basename(path));
}

/** The sockets that Flint servers listen at, whichever started them: whoever connects there acts as the user. */
export async function signedSockets(): Promise<string[]> {
  const names = await boundNames();
  if (!names.includes(FolderSigns.prefix("listens"))) return [];
  const paths = pathsIn(names);
  const areSigned = await Promise.all(paths.map((path) => isSigned(path, names)));
  return paths.filter((_, at) => areSigned[at]);
}

/** The folder around a path in which commands run right now: a sandbox that stands covers nothing any more. */
export async function workedIn(path: string): Promise<string | undefined> {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const signs = await FolderSigns.of(folder).catch(() => undefined);
    if (signs !== undefined && (await signs.hangs("holds"))) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

async function isSigned(path: string, names: string): Promise<boolean> {
  // Expected: the folder is gone, or not for us to look at.
  const signs = await FolderSigns.of(dirname(path)).catch(() => undefined);
  return signs !== undefined && names.includes(signs.prefix("listens", basename(path)));
}
