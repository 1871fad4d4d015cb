import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { isBelowRemote, isRemoteAddress, isSameRemote, shownAddress } from "@flint/host/worktrees";
import { hostsOf, isPathIn, type MergeMode, type TaskSpec, withoutAddresses } from "@flint/protocol";

/** A clone on a worker's machine, and the address under which it reaches the remote. */
export interface Project {
  readonly url: string;
  readonly folder: string;
}

/** The clone for a task that comes by a remote; undefined if there is none here. */
export function projectOf({ remote }: TaskSpec, projects: readonly Project[] = []): Project | undefined {
  return remote === undefined ? undefined : projects.find(({ url }) => isSameRemote(url, remote.url));
}

/** The most that tasks may have on a worker. A task can want less, never more. */
export interface WorkerCeiling {
  /** The folders that repositories may be in. */
  readonly folders: readonly string[];
  /** The clones of this machine, for tasks that come by a remote. */
  readonly projects?: readonly Project[] | undefined;
  /** The addresses of remotes, or beginnings of them, that tasks may use in a folder beside the remotes it has itself. */
  readonly remotes?: readonly string[] | undefined;
  /** The agents that may work; any if absent. */
  readonly agents?: readonly string[] | undefined;
  /** The model of tasks that name none; without it, `agents` refuses them. */
  readonly defaultModel?: string | undefined;
  readonly merge: readonly MergeMode[];
  /** True if tasks may allow hosts for their commands. */
  readonly network: boolean;
  /** True if tasks may accept every approval inside the sandbox. */
  readonly allowTools: boolean;
  readonly seconds?: number | undefined;
  readonly costUsd?: number | undefined;
}

/**
 * Reports whether the folder of a task is in one that the worker allows, and does not lead out of it by a
 * link.
 */
export function isInFolders({ cwd }: TaskSpec, { folders }: WorkerCeiling): boolean {
  return folders.some((folder) => isPathIn(realOf(cwd), realOf(folder)));
}

/**
 * Returns the part of a task that exceeds the ceiling of a worker; undefined if there is none. `own` are the
 * remotes of its folder here.
 */
export function ceilingViolation(
  spec: TaskSpec,
  ceiling: WorkerCeiling,
  own: readonly string[] = [],
): string | undefined {
  if (spec.remote === undefined && !isInFolders(spec, ceiling))
    return `work in ${spec.cwd}; allowed are folders in ${ceiling.folders.join(", ")}`;
  const foreignRemote = beyondRemotes(spec, ceiling, own);
  if (foreignRemote !== undefined) return foreignRemote;
  const foreign = [...spec.executors, ...spec.reviewers]
    .map(({ model = ceiling.defaultModel }) => model?.split("/")[0] ?? "")
    .find((agent) => ceiling.agents?.includes(agent) === false);
  if (foreign !== undefined) {
    const what = foreign === "" ? "any agent" : `the agent ${foreign}`;
    return `use ${what}; allowed are ${ceiling.agents?.join(", ")}`;
  }
  if (!ceiling.merge.includes(spec.merge))
    return `merge by ${spec.merge}; allowed are ${ceiling.merge.join(", ")}`;
  if (!ceiling.network && spec.network !== undefined && spec.network !== "none")
    return "allow hosts for its commands";
  const ofHere = hostsOf({ network: spec.network }).find((rule) => rule !== withoutAddresses(rule));
  if (ofHere !== undefined) return `reach ${ofHere}: no task opens private addresses of another machine`;
  if (!ceiling.allowTools && spec.allow === "tools") return "accept every approval";
  if (ceiling.seconds !== undefined && spec.budget.seconds > ceiling.seconds)
    return `work for ${spec.budget.seconds} s; allowed are ${ceiling.seconds} s`;
  if (ceiling.costUsd !== undefined && (spec.budget.costUsd ?? Number.POSITIVE_INFINITY) > ceiling.costUsd)
    return `cost more than $${ceiling.costUsd}`;
  if (ceiling.costUsd !== undefined && spec.budget.enforcement === "bestEffort")
    return "run with a cost limit that need not hold";
  return undefined;
}

/** A remote that this machine does not know by itself gets nothing from it: anyone who signs tasks could send it anything. */
function beyondRemotes(spec: TaskSpec, ceiling: WorkerCeiling, own: readonly string[]): string | undefined {
  if (spec.remote === undefined || projectOf(spec, ceiling.projects) !== undefined) return undefined;
  const { url } = spec.remote;
  const shown = shownAddress(url);
  if (!isRemoteAddress(url)) return `use ${shown} as a remote: it is not the address of one`;
  if (!isInFolders(spec, ceiling))
    return `work on ${shown}: it has no clone. Start it with --project ${shown}=DIR`;
  const isAllowed =
    own.some((remote) => isSameRemote(url, remote)) ||
    ceiling.remotes?.some((above) => isBelowRemote(url, above)) === true;
  return isAllowed
    ? undefined
    : `use the remote ${shown}: it is none of ${spec.cwd}. Allow it with --remote ${shown}`;
}

/** Resolves the links of a path. A missing path has none, and nothing is done in it. */
function realOf(path: string): string {
  // Expected: it does not exist on this machine.
  try {
    // As the system follows it: `..` after a link is the folder above what it leads to.
    return realpathSync.native(path);
  } catch {
    return resolve(path);
  }
}
