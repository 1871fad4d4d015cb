import { isAbsolute, relative } from "node:path";
import type { MergeMode, TaskSpec } from "@flint/protocol";

/** The most that tasks may have on a worker. A task can want less, never more. */
export interface WorkerCeiling {
  /** The folders that repositories may be in. */
  readonly folders: readonly string[];
  /** The agents that may work; any if absent. */
  readonly agents?: readonly string[] | undefined;
  readonly merge: readonly MergeMode[];
  /** Whether tasks may allow hosts for their commands. */
  readonly network: boolean;
  /** Whether tasks may accept every approval inside the sandbox. */
  readonly acceptApprovals: boolean;
  readonly seconds?: number | undefined;
  readonly costUsd?: number | undefined;
}

/** What a task wants beyond the ceiling of a worker; undefined if it stays below. */
export function beyondCeiling(spec: TaskSpec, ceiling: WorkerCeiling): string | undefined {
  if (!ceiling.folders.some((folder) => isInside(spec.cwd, folder)))
    return `work in ${spec.cwd}; allowed are folders in ${ceiling.folders.join(", ")}`;
  const agents = [...spec.executors, ...spec.reviewers].map(({ model }) => model?.split("/")[0]);
  const foreign = agents.find((agent) => agent !== undefined && ceiling.agents?.includes(agent) === false);
  if (foreign !== undefined) return `use the agent ${foreign}; allowed are ${ceiling.agents?.join(", ")}`;
  if (!ceiling.merge.includes(spec.merge))
    return `merge by ${spec.merge}; allowed are ${ceiling.merge.join(", ")}`;
  if (!ceiling.network && spec.network !== undefined && spec.network !== "none")
    return "allow hosts for its commands";
  if (!ceiling.acceptApprovals && spec.approvals === "accept") return "accept every approval";
  if (ceiling.seconds !== undefined && spec.budget.seconds > ceiling.seconds)
    return `work for ${spec.budget.seconds} s; allowed are ${ceiling.seconds} s`;
  if (ceiling.costUsd !== undefined && (spec.budget.costUsd ?? Number.POSITIVE_INFINITY) > ceiling.costUsd)
    return `cost more than $${ceiling.costUsd}`;
  return undefined;
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (!way.startsWith("..") && !isAbsolute(way));
}
