import { errorMessage, type ParamsInput, type TaskRow } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { count, diffBlocks } from "@flint/view";
import { hasEnded } from "@flint/view/tasks";

/** One prompt for several agents, in a folder, and the commands that each result has to pass. */
export interface Comparison {
  readonly prompt: string;
  readonly cwd: string;
  /** Agents, or models of them. */
  readonly agents: readonly string[];
  readonly checks: readonly string[];
}

/** Reports whether these can be compared: at least two, none of them twice. */
export function areComparable(agents: readonly string[]): boolean {
  return agents.length >= 2 && new Set(agents).size === agents.length;
}

/** The names in a list such as `claude,codex`. */
export function namesIn(list: string): string[] {
  return list.split(",").flatMap((name) => name.trim() || []);
}

/** Adds a task for each agent, in their order. Each works in a worktree of its own, and no agent reviews it. */
export async function startComparison(
  client: FlintClient,
  { prompt, cwd, agents, checks }: Comparison,
): Promise<readonly TaskRow[]> {
  const tasks = agents.map((model): ParamsInput<"task/add">["tasks"][number] => ({
    ...{ prompt, cwd, executors: [{ model }], reviewers: [], rounds: 1 },
    checks: checks.map((command) => ({ command })),
    title: `${prompt.split("\n")[0]?.slice(0, 60)} (${model})`,
  }));
  return (await client.call("task/add", { tasks })).data;
}

/** Reports whether a task has a result that can be kept. */
export function canBeKept({ phase }: TaskRow): boolean {
  return phase === "approving";
}

/**
 * Approves exactly the tree of one result and cancels the other tasks. Gives a sentence for each that was left as it is; the
 * result is kept all the same.
 */
export async function keepResult(
  client: FlintClient,
  tasks: readonly TaskRow[],
  kept: { readonly id: string; readonly tree: string | null },
): Promise<string[]> {
  await client.call("task/approve", { taskId: kept.id, tree: kept.tree });
  const left: string[] = [];
  for (const task of tasks.filter((each) => each.id !== kept.id && !hasEnded(each)))
    await client
      .call("task/cancel", { taskId: task.id, reason: "Another result was kept." })
      // Expected: it has ended or was removed meanwhile.
      .catch((thrown: unknown) => left.push(`Task ${task.number} is left as it is: ${errorMessage(thrown)}`));
  return left;
}

/** The size of a unified diff, such as `2 files, +10 -3`. */
export function changesIn(diff: string): string {
  const blocks = diffBlocks(diff);
  if (blocks.length === 0) return "none";
  const sum = (of: "added" | "removed") => blocks.reduce((total, block) => total + block[of], 0);
  return `${count(blocks.length, "file")}, +${sum("added")} -${sum("removed")}`;
}
