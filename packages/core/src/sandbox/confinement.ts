import { realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import type { SandboxPolicy } from "@flint/protocol";
import { PROTECTED_NAMES } from "./protected-names.ts";

/** A path that is put into the confined view of the file system, over whatever is there. */
export interface Bind {
  readonly path: string;
  readonly writable: boolean;
}

/** What a confined command sees and may touch. All paths exist and are free of links. */
export interface Confinement {
  /** Whether everything may be written that is not listed otherwise. */
  readonly rootWritable: boolean;
  /** Folders that are shown empty and private: for temporary files, and because sockets in them reach out. */
  readonly masks: readonly string[];
  /** In the order they apply: a later one lies inside an earlier one or beside it. */
  readonly binds: readonly Bind[];
  readonly network: boolean;
  readonly cwd: string;
}

/** The policies that need a confinement. */
export type ConfinedPolicy = Extract<SandboxPolicy, { type: "readOnly" | "workspaceWrite" }>;

/** Sockets in /run lead to Docker, systemd and the message bus, which act for whoever connects. */
const MASKS = ["/tmp", "/run"];

/** What programs need of the masked folders: where /etc/resolv.conf may lead to. */
const KEPT = ["/run/systemd/resolve", "/run/NetworkManager/resolv.conf", "/run/resolvconf"];

/** Works out what a policy means on this machine. Roots that do not exist are left out. */
export async function confine(policy: ConfinedPolicy, workspace: string, cwd: string): Promise<Confinement> {
  const roots = await existing(writableRoots(policy, workspace));
  const writable = roots.map((path): Bind => ({ path, writable: true }));
  const readable = (await existing([workspace, ...KEPT])).filter((path) => !roots.includes(path));
  const guarded = (await protectedPaths(roots)).filter((path) => !roots.includes(path));
  const readOnly = [...new Set([...readable, ...guarded])].map((path): Bind => ({ path, writable: false }));
  const binds = [...writable, ...readOnly].filter((bind) => bind.path !== sep);
  const masks = await existing(MASKS);
  return {
    rootWritable: roots.includes(sep),
    masks: masks.filter((mask) => !roots.some((root) => isInside(mask, root))),
    binds: binds.sort((left, right) => depth(left.path) - depth(right.path)),
    network: policy.type === "workspaceWrite" && policy.networkAccess === true,
    cwd: await resolved(cwd).then((path) => path ?? cwd),
  };
}

/** Whether a path is a folder or lies somewhere in it. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function writableRoots(policy: ConfinedPolicy, workspace: string): readonly string[] {
  return policy.type === "readOnly" ? [] : [workspace, ...(policy.writableRoots ?? [])];
}

/** What lies under a protected name in a root. A link is followed, because only its target can be protected. */
async function protectedPaths(roots: readonly string[]): Promise<string[]> {
  const candidates = roots.flatMap((root) => PROTECTED_NAMES.map((name) => join(root, name)));
  return (await existing(candidates)).filter((path) => roots.some((root) => isInside(path, root)));
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
