import { readdir, readlink, realpath } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import type { PrivateFolder } from "@flint/core/ports";
import { type ConfinedPolicy, FlintError } from "@flint/protocol";
import { boundSockets } from "../sockets/bound-sockets.ts";

/** A path that is put into the confined view of the file system, over whatever is there. */
export interface Bind {
  readonly path: string;
  readonly writable: boolean;
}

/** A folder that is covered by an empty one of the command's own, into which some of what it holds is put back. */
export interface PrivateMount {
  readonly path: string;
  /** Links in it, made again as they are. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** In the order they apply. */
  readonly binds: readonly Bind[];
}

/** What a confined command sees and may touch. All paths exist and are free of links. */
export interface Confinement {
  /** Whether everything may be written that is not listed otherwise. */
  readonly rootWritable: boolean;
  /** Folders that are shown empty and private: for temporary files, and because sockets in them reach out. */
  readonly masks: readonly string[];
  /** In the order they apply: a later one lies inside an earlier one or beside it. */
  readonly binds: readonly Bind[];
  /** Applied after all binds. */
  readonly privates: readonly PrivateMount[];
  /** Sockets that are covered, because nothing else keeps a command from connecting to them. */
  readonly sockets: readonly string[];
  /** Folders that are shown empty, whatever shows what lies around them. */
  readonly hidden: readonly string[];
  readonly network: boolean;
  readonly cwd: string;
}

/** Sockets in /run lead to Docker, systemd and the message bus, which act for whoever connects. */
const MASKS = ["/tmp", "/run"];

/** What programs need of the masked folders: where /etc/resolv.conf may lead to. */
const KEPT = ["/run/systemd/resolve", "/run/NetworkManager/resolv.conf", "/run/resolvconf"];

/** What must not be written, although it lies in something that may. */
export interface Guarded {
  /** Unless it is a root itself. */
  readonly names: readonly string[];
  /** Whatever else is said about it. */
  readonly firm: readonly string[];
  /** What may be written, but not be moved: a mount of its own keeps it in its place. */
  readonly pins: readonly string[];
  /** Folders that are not seen into; they exist. */
  readonly hidden?: readonly string[];
  /** Sockets that nobody may connect to, also where the command may write; they exist. */
  readonly sockets?: readonly string[];
}

/** Tells what is guarded in the roots, and what in anything else that a program may write. */
export type Guard = (roots: readonly string[], own: readonly string[]) => Promise<Guarded>;

/** What a program may beyond its policy, for its own sake. */
export interface OwnNeeds {
  readonly paths: readonly string[];
  readonly privateFolders: readonly PrivateFolder[];
  readonly readOnlyPaths: readonly string[];
  readonly network: boolean;
  /** Programs and files that it is started with; where they lie in a masked folder they are shown all the same. */
  readonly programs: readonly string[];
}

const NO_NEEDS: OwnNeeds = { paths: [], privateFolders: [], readOnlyPaths: [], network: false, programs: [] };

/** A folder with more than this is shown read-only as a whole, without a private version: each entry is a mount. */
const MOST_ENTRIES = 300;

/** Works out what a policy means on this machine. Roots that do not exist are left out. */
export async function confine(
  policy: ConfinedPolicy,
  workspace: string,
  cwd: string,
  guard: Guard,
  needs: OwnNeeds = NO_NEEDS,
): Promise<Confinement> {
  const roots = await resolvedRoots(policy, workspace);
  const programs = (await existing(needs.programs)).flatMap(shownFolder);
  const shown = await existing([workspace, ...KEPT, ...programs, ...needs.readOnlyPaths]);
  const folders = await resolvedFolders(needs.privateFolders, roots);
  const readable = [...shown, ...folders.map(({ path }) => path)].filter((path) => !roots.includes(path));
  const own = await existing(needs.paths);
  const guarded = await guard(roots, own);
  const masks = (await existing(MASKS)).filter((mask) => !roots.some((root) => isInside(mask, root)));
  const isOutside = (path: string) => ![...masks, ...roots, "/dev"].some((folder) => isInside(path, folder));
  const all = bindsOf({ roots, readable, own, guarded });
  const privates = (await Promise.all(folders.map((folder) => privateMount(folder, all)))).flat();
  const privateAround = (path: string) => privates.find((mount) => isInside(path, mount.path));
  const binds = all.filter(({ path }) => [undefined, path].includes(privateAround(path)?.path));
  // In a masked or private folder there is nothing to be seen, unless something around it is shown again.
  const isSeen = (path: string) => {
    const shownAgain = privateAround(path)?.binds ?? binds;
    const isCovered = [...masks, "/dev", ...privates.map((mount) => mount.path)].some((cover) =>
      isInside(path, cover),
    );
    return !isCovered || shownAgain.some((bind) => isInside(path, bind.path));
  };
  const foreign = (await boundSockets(isOutside)).filter(isSeen);
  const sockets = [...foreign, ...(guarded.sockets ?? []).filter(isSeen)];
  return {
    rootWritable: isRootWritable(roots, guarded),
    masks,
    sockets: [...new Set(sockets)],
    hidden: (guarded.hidden ?? []).filter(isSeen),
    binds,
    privates,
    network: needs.network || (policy.type === "workspaceWrite" && policy.networkAccess === true),
    cwd: await resolved(cwd).then((path) => path ?? cwd),
  };
}

/** Where private folders are. One that is a root itself stays as it is: whoever works in there means to change it. */
async function resolvedFolders(
  folders: readonly PrivateFolder[],
  roots: readonly string[],
): Promise<PrivateFolder[]> {
  const found = await Promise.all(
    folders.map(async (folder) => ({ ...folder, path: await resolved(folder.path) })),
  );
  const known = found.flatMap(({ path, ...rest }) => (path === undefined ? [] : [{ ...rest, path }]));
  const isAlone = (folder: PrivateFolder, at: number) =>
    !roots.includes(folder.path) &&
    !known.some(
      ({ path }, other) =>
        other !== at && isInside(folder.path, path) && (path !== folder.path || other < at),
    );
  return known.filter(isAlone);
}

/** None where the folder cannot be listed, or holds too much: it is read-only then, apart from what is writable in it. */
async function privateMount(
  { path: folder, hides = [] }: PrivateFolder,
  all: readonly Bind[],
): Promise<PrivateMount[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return [];
  const isSeen = ({ name }: { readonly name: string }) => hides !== "everything" && !hides.includes(name);
  const seen = entries.filter(isSeen);
  if (seen.length > MOST_ENTRIES) return [];
  const given = all.filter(({ path }) => path !== folder && isInside(path, folder));
  const shown = seen
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map(({ name }) => ({ path: join(folder, name), writable: false }))
    .filter(({ path }) => !given.some((bind) => bind.path === path));
  const links = seen.filter((entry) => entry.isSymbolicLink());
  const targets = await Promise.all(
    links.map(async ({ name }) => {
      const path = join(folder, name);
      const target = await readlink(path).catch(() => undefined);
      return target === undefined ? [] : [{ path, target }];
    }),
  );
  return [{ path: folder, links: targets.flat(), binds: inOrder([...shown, ...given]) }];
}

/** The folder at the top of a mask that a program lies in: with it comes what the program loads from beside it. */
function shownFolder(program: string): string[] {
  const mask = MASKS.find((folder) => isInside(program, folder) && program !== folder);
  if (mask === undefined) return [];
  const [top = ""] = program.slice(mask.length + 1).split(sep);
  return [join(mask, top)];
}

function isRootWritable(roots: readonly string[], { firm }: Guarded): boolean {
  return roots.includes(sep) && !firm.includes(sep);
}

interface Listed {
  readonly roots: readonly string[];
  readonly readable: readonly string[];
  readonly own: readonly string[];
  readonly guarded: Guarded;
}

function bindsOf({ roots, readable, own, guarded }: Listed): Bind[] {
  const { firm, pins } = guarded;
  const names = guarded.names.filter(
    (path) => !roots.includes(path) && roots.some((root) => isInside(path, root)),
  );
  const writableRoots = roots.filter((root) => isOwnBind(root, roots, [...names, ...firm]));
  const isLoose = (path: string) => !firm.includes(path);
  const binds = inOrder([
    ...writableRoots.filter(isLoose).map((path) => ({ path, writable: true })),
    ...[...new Set([...readable, ...names, ...firm])].map((path) => ({ path, writable: false })),
    ...own.filter(isLoose).map((path) => ({ path, writable: true })),
  ]);
  const needsPin = (path: string) => {
    const around = binds.findLast((bind) => isInside(path, bind.path));
    return around === undefined ? isRootWritable(roots, guarded) : around.writable && around.path !== path;
  };
  return inOrder([...binds, ...pins.filter(needsPin).map((path) => ({ path, writable: true }))]);
}

function inOrder(binds: readonly Bind[]): Bind[] {
  return binds
    .filter((bind) => bind.path !== sep)
    .sort((left, right) => depth(left.path) - depth(right.path));
}

/** Whether a path is a folder or lies somewhere in it. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/**
 * A root that lies in another one is writable already, unless something around it is not. It gets no bind of its own
 * otherwise: a command that runs in the outer one could swap a folder on the way to it at the moment it is bound.
 */
function isOwnBind(root: string, roots: readonly string[], guarded: readonly string[]): boolean {
  const isNested = roots.some((other) => other !== root && isInside(root, other));
  return !isNested || guarded.some((path) => isInside(root, path));
}

/** Where the roots are. Refuses one that a command can lead elsewhere, because its path goes through another one. */
async function resolvedRoots(policy: ConfinedPolicy, workspace: string): Promise<string[]> {
  const listed = writableRoots(policy, workspace).map((path) => resolve(path));
  const found = await Promise.all(listed.map(resolved));
  for (const [at, path] of listed.entries()) {
    const target = found[at];
    const isLedOut = (outer: string, index: number) =>
      outer !== path && isInside(path, outer) && !isInside(target ?? path, found[index] ?? outer);
    if (target !== undefined && listed.some(isLedOut)) throw ledOut(path, target);
  }
  return [...new Set(found.filter((path) => path !== undefined))];
}

function ledOut(path: string, target: string): FlintError {
  const message = `Did not run the command: the writable root ${path} lies in another one and leads to ${target} by a link, which a command could change. List ${target} itself instead.`;
  return new FlintError("sandboxUnavailable", message, { path, target });
}

function writableRoots(policy: ConfinedPolicy, workspace: string): readonly string[] {
  return policy.type === "readOnly" ? [] : [workspace, ...(policy.writableRoots ?? [])];
}

async function existing(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map(resolved));
  return [...new Set(found.filter((path) => path !== undefined))];
}

/** The path without links; undefined if nothing is there. */
function resolved(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined);
}

function depth(path: string): number {
  return path.split(sep).length;
}
