import { readdir, readlink } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import type { PrivateFolder } from "@flint/core/ports";
import { isPathIn } from "@flint/protocol";
import { realPathIfAny } from "../../files/path-kinds.ts";

/** A private folder with what it is made of. */
export interface StagedFolder extends PrivateFolder {
  /** The folder that covers it, in which its copies are. An empty one in memory if not given. */
  readonly source?: string | undefined;
  /** Source of the placeholder for a missing read-only name; required for folders that have any. */
  readonly placeholder?: ((name: string) => string) | undefined;
}

/** A path in a private folder that is shown again, or shown as something else. */
export interface PrivateBind extends Bind {
  /** The path that is mounted, if it differs from the target path. */
  readonly source?: string | undefined;
}

/** A folder that is covered by a private one, into which parts of its content are mounted again. */
export interface PrivateMount {
  readonly path: string;
  /** As of its `StagedFolder`. */
  readonly source?: string | undefined;
  /** Its links, created again. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** In the order in which they are mounted. */
  readonly binds: readonly PrivateBind[];
}

/** With more entries only the known ones are shown, because each is a mount; without known ones all are, read-only. */
const MAX_ENTRIES = 300;

/** The private folders with their real paths. One that is a root itself is left alone, because it is meant to be changed. */
export async function stagedFolders(
  folders: readonly StagedFolder[],
  roots: readonly string[],
): Promise<StagedFolder[]> {
  const found = await Promise.all(
    folders.map(async (folder) => ({ ...folder, path: await realPathIfAny(folder.path) })),
  );
  const known = found.flatMap(({ path, ...rest }) => (path === undefined ? [] : [{ ...rest, path }]));
  const isAlone = (folder: StagedFolder, at: number) =>
    !roots.includes(folder.path) &&
    !known.some(
      ({ path }, other) =>
        other !== at && isPathIn(folder.path, path) && (path !== folder.path || other < at),
    );
  return known.filter(isAlone);
}

/** None if the folder cannot be listed or has too many entries; then it is read-only, except for writable paths in it. */
export async function privateMount(
  folder: StagedFolder,
  all: readonly Bind[],
  masks: readonly string[],
): Promise<PrivateMount[]> {
  const { path, source, hides = [], copies = [], replaced = [] } = folder;
  const entries = await readdir(path, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return [];
  const added = all.filter((bind) => bind.path !== path && isPathIn(bind.path, path));
  const readOnly = (await readOnlyBinds(folder, masks)).filter((bind) => !isListed(bind, added));
  const isOther = ({ name }: { readonly name: string }) =>
    hides !== "everything" &&
    !hides.includes(name) &&
    ![...copies, ...replaced].some((other) => other.name === name) &&
    !isListed({ path: join(path, name) }, [...added, ...readOnly]);
  const others = entries.filter(isOther);
  const isFull = others.length > MAX_ENTRIES;
  if (isFull && source === undefined) return [];
  const shown = (isFull ? [] : others)
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map(({ name }) => ({ path: join(path, name), writable: false }));
  const links = isFull ? [] : others.filter((entry) => entry.isSymbolicLink());
  const targets = await Promise.all(links.map(({ name }) => linkAt(join(path, name))));
  return [{ path, source, links: targets.flat(), binds: outermostFirst([...shown, ...readOnly, ...added]) }];
}

/** Mounts, so that they can be neither written nor replaced; a link is shown as what it leads to. */
function readOnlyBinds(
  { path: folder, readOnly = [], placeholder }: StagedFolder,
  masks: readonly string[],
): Promise<PrivateBind[]> {
  if (placeholder === undefined) return Promise.resolve([]);
  const binds = readOnly.map(async (name) => {
    const path = join(folder, basename(name));
    const real = await realPathIfAny(path);
    const isMasked = (found: string) =>
      !isPathIn(found, folder) && masks.some((mask) => isPathIn(found, mask));
    const source = real === undefined || isMasked(real) ? placeholder(name) : real;
    return { path, writable: false, ...(source === path ? {} : { source }) };
  });
  return Promise.all(binds);
}

async function linkAt(path: string) {
  const target = await readlink(path).catch(() => undefined);
  return target === undefined ? [] : [{ path, target }];
}

function isListed({ path }: { readonly path: string }, binds: readonly Bind[]): boolean {
  return binds.some((bind) => bind.path === path);
}

/** A path that is mounted into the confined file system. */
export interface Bind {
  readonly path: string;
  readonly writable: boolean;
}

/** Outer folders before what is in them. */
export function outermostFirst<Each extends Bind>(binds: readonly Each[]): Each[] {
  return binds
    .filter((bind) => bind.path !== sep)
    .sort((left, right) => depth(left.path) - depth(right.path));
}

function depth(path: string): number {
  return path.split(sep).length;
}
