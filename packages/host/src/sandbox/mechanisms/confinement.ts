import { lstat } from "node:fs/promises";
import { join, normalize, resolve, sep } from "node:path";
import { type ConfinedPolicy, FlintError, isPathIn } from "@flint/protocol";
import { folderIdentity } from "../../files/folder-identity.ts";
import { realPathIfAny } from "../../files/path-kinds.ts";
import { boundSockets } from "../sockets.ts";
import {
  type Bind,
  outermostFirst,
  type PrivateMount,
  privateMount,
  type StagedFolder,
  stagedFolders,
} from "./private-mounts.ts";

/** Something that is mounted at another path than its own. */
export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly writable: boolean;
}

/** A folder that was opened for one command. */
export interface ExpectedFolder {
  readonly path: string;
  /** Its device and inode, as `stat -c %d:%i` prints them. */
  readonly node: string;
  /** True if it has a mount of its own; otherwise it is part of another root. */
  readonly isMounted: boolean;
}

/**
 * The parts of the machine that a confined command can see and change. All paths exist and contain no links.
 */
export interface Confinement {
  /** True if everything is writable that is not listed otherwise. */
  readonly rootWritable: boolean;
  /** Folders that are empty and private: for temporary files, and to hide the sockets in them. */
  readonly masks: readonly string[];
  /** In the order in which they are mounted: a later one is inside of an earlier one or beside it. */
  readonly binds: readonly Bind[];
  /** Mounted after all binds. */
  readonly privates: readonly PrivateMount[];
  /** The folder that contains the sources of private mounts, if they have any; nothing else of it is shown. */
  readonly privateSources?: string | undefined;
  /** Sockets to cover, because a read-only mount does not prevent connections, and files that are shown empty. */
  readonly sockets: readonly string[];
  /** Folders that are shown empty, even inside of something that is shown. */
  readonly hidden: readonly string[];
  /** Mounted after everything else, in this order. What does not exist is in `/run/flint`. */
  readonly mounts: readonly Mount[];
  /** Folders that have to be these very ones once everything is mounted; else the command is not started. */
  readonly expected: readonly ExpectedFolder[];
  readonly network: boolean;
  /** The descriptor of a seccomp filter; only bubblewrap takes one. */
  readonly filterDescriptor?: number | undefined;
  readonly cwd: string;
}

/** Sockets in /run lead to Docker, systemd and D-Bus, which act for any client. */
const MASKS = ["/tmp", "/run"];

/** The real paths of the folders that a sandbox masks unless they are writable roots. */
export function maskedFolders(): Promise<string[]> {
  return existing(MASKS);
}

/** Paths in masked folders that programs need: possible targets of /etc/resolv.conf. */
const SHOWN_IN_MASKS = ["/run/systemd/resolve", "/run/NetworkManager/resolv.conf", "/run/resolvconf"];

/** Paths that must not be written inside of writable ones. */
export interface ProtectedPathSet {
  /** Read-only, unless it is a root itself. */
  readonly protected: readonly string[];
  /** Always read-only. */
  readonly locked: readonly string[];
  /** Writable, but kept from being moved by a mount of its own. */
  readonly pins: readonly string[];
  /** Existing folders that are shown empty. */
  readonly hidden?: readonly string[];
  /** Existing sockets to cover, even where the command may write. */
  readonly sockets?: readonly string[];
}

/** Determines what is guarded in the roots, and in anything else that a program may write. */
export type FindProtectedPaths = (
  roots: readonly string[],
  own: readonly string[],
) => Promise<ProtectedPathSet>;

/** The policy of a command, and what a program needs beyond it. */
export interface ConfinementRequest {
  readonly policy: ConfinedPolicy;
  readonly workspace: string;
  readonly cwd: string;
  /** Writable, whatever the policy. */
  readonly ownPaths?: readonly string[];
  readonly privateFolders?: readonly StagedFolder[];
  readonly privateSources?: string | undefined;
  /** Read-only, even in the workspace. */
  readonly readOnlyPaths?: readonly string[];
  /** Files and folders that are shown empty. */
  readonly maskedPaths?: readonly string[];
  /** Network access, whatever the policy. */
  readonly network?: boolean;
  readonly mounts?: readonly Mount[];
  /** The programs and files that it is started with, which are shown even if they are in a masked folder. */
  readonly programs?: readonly string[];
  /** Real paths of folders that this command alone may write. */
  readonly grantedRoots?: readonly string[];
  /** Identities of these folders when the user was asked, by path. */
  readonly identities?: Readonly<Record<string, string>> | undefined;
}

/** Translates a policy to paths of this machine. Roots that do not exist are left out. */
export async function confine(request: ConfinementRequest, guard: FindProtectedPaths): Promise<Confinement> {
  const { policy, workspace, cwd, ownPaths = [], privateFolders = [], readOnlyPaths = [] } = request;
  const ownRoots = await resolvedRoots(policy, workspace);
  const granted = await unmovedRoots(request.grantedRoots ?? [], request.identities);
  const roots = [...new Set([...ownRoots, ...granted.map(({ path }) => path)])];
  const given = (request.programs ?? []).map((path) => normalize(path));
  const links = await unlinked(given.flatMap(shownFolder));
  const programs = [...(await existing(given)).flatMap(shownFolder), ...links];
  const shown = await existing([workspace, ...SHOWN_IN_MASKS, ...programs, ...readOnlyPaths]);
  const folders = await stagedFolders(privateFolders, roots);
  const readable = [...shown, ...folders.map(({ path }) => path)].filter((path) => !roots.includes(path));
  const own = await existing(ownPaths);
  const guarded = await guard(roots, own);
  const masks = (await maskedFolders()).filter((mask) => !roots.some((root) => isPathIn(mask, root)));
  // A folder that was opened for one command was not opened for the sockets in it.
  const isOutside = (path: string) => !ownRoots.some((root) => isPathIn(path, root));
  const all = bindsOf({ roots, readable, own, guarded });
  const privates = (await Promise.all(folders.map((folder) => privateMount(folder, all, masks)))).flat();
  const privateAround = (path: string) => privates.find((mount) => isPathIn(path, mount.path));
  const mounts = [...(request.mounts ?? []), ...replacedFolders(folders)];
  const isCoveredLater = (path: string) => mounts.some(({ target }) => target === path);
  const binds = all.filter(
    ({ path }) => [undefined, path].includes(privateAround(path)?.path) && !isCoveredLater(path),
  );
  // Nothing in a masked or private folder is visible, unless a bind around it shows it again.
  const isSeen = (path: string) => {
    const shownAgain = privateAround(path)?.binds ?? binds;
    const isCovered = [...masks, "/dev", ...privates.map((mount) => mount.path)].some((cover) =>
      isPathIn(path, cover),
    );
    return !isCovered || shownAgain.some((bind) => isPathIn(path, bind.path));
  };
  const foreign = await boundSockets((path) => isOutside(path) && isSeen(path));
  const covered = await hiddenIn(request.maskedPaths ?? []);
  const sockets = [...foreign, ...[...(guarded.sockets ?? []), ...covered.files].filter(isSeen)];
  return {
    rootWritable: isRootWritable(roots, guarded),
    masks,
    sockets: [...new Set(sockets)],
    hidden: [...(guarded.hidden ?? []), ...covered.folders].filter(isSeen),
    binds,
    privates,
    privateSources: request.privateSources,
    mounts,
    expected: granted.map(({ path, node }) => ({
      ...{ path, node },
      isMounted: binds.some((bind) => bind.path === path && bind.writable),
    })),
    network: request.network === true || (policy.type === "workspaceWrite" && policy.networkAccess === true),
    cwd: await realPathIfAny(cwd).then((path) => path ?? cwd),
  };
}

/** Mounted last, because their sources may be in a folder that is masked. */
function replacedFolders(folders: readonly StagedFolder[]): Mount[] {
  return folders.flatMap(({ path, replaced = [] }) =>
    replaced.map(({ name, source }) => ({ source, target: join(path, name), writable: true })),
  );
}

/** The real paths of what is shown empty; a file is covered, a folder replaced. */
async function hiddenIn(paths: readonly string[]) {
  const real = await existing(paths);
  const found = await Promise.all(real.map((path) => lstat(path).catch(() => undefined)));
  return {
    folders: real.filter((_, at) => found[at]?.isDirectory() === true),
    files: real.filter((_, at) => found[at]?.isDirectory() === false),
  };
}

/** The top folder in a mask that contains a program, with everything the program loads from beside it. */
function shownFolder(program: string): string[] {
  const mask = MASKS.find((folder) => isPathIn(program, folder) && program !== folder);
  if (mask === undefined) return [];
  const [top = ""] = program.slice(mask.length + 1).split(sep);
  return [join(mask, top)];
}

/** The folders that are no links themselves: what a link leads to is not shown for a program beside it. */
async function unlinked(folders: readonly string[]): Promise<string[]> {
  const real = await Promise.all(folders.map(realPathIfAny));
  return folders.filter((folder, at) => real[at] === folder);
}

function isRootWritable(roots: readonly string[], { locked }: ProtectedPathSet): boolean {
  return roots.includes(sep) && !locked.includes(sep);
}

interface BindSources {
  readonly roots: readonly string[];
  readonly readable: readonly string[];
  readonly own: readonly string[];
  readonly guarded: ProtectedPathSet;
}

function bindsOf({ roots, readable, own, guarded }: BindSources): Bind[] {
  const { locked, pins } = guarded;
  const names = guarded.protected.filter(
    (path) => !roots.includes(path) && roots.some((root) => isPathIn(path, root)),
  );
  const writableRoots = roots.filter((root) => isOwnBind(root, roots, [...names, ...locked]));
  const isUnlocked = (path: string) => !locked.includes(path);
  const writable = own.filter(isUnlocked);
  // One bind for each path: a mount below another one at the same place can be neither reached nor made read-only.
  const readOnly = [...new Set([...readable, ...names, ...locked])].filter(
    (path) => !writable.includes(path),
  );
  const binds = outermostFirst([
    ...writableRoots.filter(isUnlocked).map((path) => ({ path, writable: true })),
    ...readOnly.map((path) => ({ path, writable: false })),
    ...[...new Set(writable)].map((path) => ({ path, writable: true })),
  ]);
  const needsPin = (path: string) => {
    const around = binds.findLast((bind) => isPathIn(path, bind.path));
    return around === undefined ? isRootWritable(roots, guarded) : around.writable && around.path !== path;
  };
  return outermostFirst([...binds, ...pins.filter(needsPin).map((path) => ({ path, writable: true }))]);
}

/**
 * A root inside of another one is writable already, unless something between them is not. Otherwise it gets no bind of
 * its own: a command in the outer root could swap a folder on the path at the moment of the mount.
 */
function isOwnBind(root: string, roots: readonly string[], guarded: readonly string[]): boolean {
  const isNested = roots.some((other) => other !== root && isPathIn(root, other));
  return !isNested || guarded.some((path) => isPathIn(root, path));
}

/** The real paths of the roots. Rejects one that a command could redirect, because its path leads through another. */
async function resolvedRoots(policy: ConfinedPolicy, workspace: string): Promise<string[]> {
  const listed = writableRoots(policy, workspace).map((path) => resolve(path));
  const found = await Promise.all(listed.map(realPathIfAny));
  for (const [at, path] of listed.entries()) {
    const target = found[at];
    const isRedirected = (outer: string, index: number) =>
      outer !== path && isPathIn(path, outer) && !isPathIn(target ?? path, found[index] ?? outer);
    if (target !== undefined && listed.some(isRedirected)) throw redirectedRoot(path, target);
  }
  return [...new Set(found.filter((path) => path !== undefined))];
}

/** Rejects a root that is another folder, or leads elsewhere, than when the user was asked about it. */
function unmovedRoots(paths: readonly string[], identities: Readonly<Record<string, string>> = {}) {
  return Promise.all(
    paths.map(async (path) => {
      const target = await realPathIfAny(path);
      const found = await lstat(path, { bigint: true }).catch(() => undefined);
      const { [path]: identity } = identities;
      if (target === undefined || found === undefined) throw movedRoot(path, "is gone");
      if (target !== path) throw movedRoot(path, `leads to ${target} now`);
      if (identity !== undefined && identity !== folderIdentity(path))
        throw movedRoot(path, "was replaced by another folder");
      return { path, node: `${found.dev}:${found.ino}` };
    }),
  );
}

function movedRoot(path: string, what: string): FlintError {
  const message = `Did not run the command: ${path}, which it was allowed to write, ${what}.`;
  return new FlintError("sandboxUnavailable", message, { path });
}

function redirectedRoot(path: string, target: string): FlintError {
  const message = `Did not run the command: the writable root ${path} is inside of another one and a link to ${target}, which a command could change. List ${target} itself instead.`;
  return new FlintError("sandboxUnavailable", message, { path, target });
}

function writableRoots(policy: ConfinedPolicy, workspace: string): readonly string[] {
  return policy.type === "readOnly" ? [] : [workspace, ...(policy.writableRoots ?? [])];
}

async function existing(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map(realPathIfAny));
  return [...new Set(found.filter((path) => path !== undefined))];
}
