import type { TaskRow } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { escapeControls } from "@flint/view";
import { hasEnded, nextStep, statusOf, usageText } from "@flint/view/tasks";
import { print } from "../../command-line/output.ts";
import { blockerOf, progressOf, type TaskProgress } from "./progress.ts";
import { findTask, followTasks } from "./task-server.ts";

const POLL_MS = 30_000;

interface WatchArguments {
  readonly values: { readonly bell?: boolean | undefined };
  readonly positionals: readonly string[];
}

/** `flint tasks watch`: prints changes until nothing continues without the user. The exit code says how it stands. */
export async function watchTasks({ values, positionals }: WatchArguments): Promise<number> {
  const shown = new Map<string, string>();
  return followTasks(async (client) => {
    const [text] = positionals;
    const only = text === undefined ? undefined : (await findTask(client, text)).id;
    let revision: number | undefined;
    for (;;) {
      const list = await changedList(client, revision);
      revision = list.revision;
      const tasks = list.data.filter(({ id }) => only === undefined || id === only);
      // Of those that ended long before this, only the numbers are of interest.
      const news = tasks
        .filter((task) => only !== undefined || !isOld(task))
        .flatMap((task) => report(task, list.data, shown) ?? []);
      if (values.bell === true && process.stdout.isTTY && news.some((standing) => standing !== "continues"))
        print("\u0007");
      const standings = tasks.map((task) => [task, progressOf(task, list.data)] as const);
      if (!standings.some(([, standing]) => standing === "continues"))
        return exitCode(standings.flatMap(([{ id }, standing]) => (shown.has(id) ? [standing] : [])));
    }
  });
}

function changedList(client: FlintClient, revision: number | undefined) {
  return client.call("task/list", revision === undefined ? {} : { revision, timeoutMs: POLL_MS }, {
    timeoutMs: 2 * POLL_MS,
  });
}

const RECENT_MS = 600_000;

function isOld(task: TaskRow): boolean {
  return hasEnded(task) && Date.now() - task.updatedAtMs > RECENT_MS;
}

/** Prints where a task stands, unless that was printed before, and returns it. */
function report(
  task: TaskRow,
  all: readonly TaskRow[],
  shown: Map<string, string>,
): TaskProgress | undefined {
  const blocker = blockerOf(task, all);
  const key = `${task.attempt}.${task.round} ${task.phase} ${task.step ?? ""} ${task.ask?.id ?? ""} ${blocker?.id}`;
  if (shown.get(task.id) === key) return undefined;
  shown.set(task.id, key);
  const standing = progressOf(task, all);
  print(`${watchLines(task, blocker, standing, Date.now()).join("\n   ")}\n`);
  return standing;
}

/** Describes the status of a task, the reason, and what to do: a line, and details for below it. */
export function watchLines(
  task: TaskRow,
  blocker: TaskRow | undefined,
  standing: TaskProgress,
  now: number,
): string[] {
  const round = task.round === 0 ? "" : `, round ${task.round} of ${task.rounds}`;
  const used = task.usage.seconds === 0 || standing === "continues" ? "" : `, used ${usageText(task)}`;
  const detail =
    task.ask?.message ?? task.error ?? (task.phase === "suspended" ? task.note : task.merged?.note);
  return [
    `#${task.number} ${escapeControls(task.title)}: ${statusOf(task, now)}${round}${used}`,
    ...(blocker === undefined ? [] : [`comes after #${blocker.number}, which ${NEEDS[blocker.phase] ?? ""}`]),
    ...(detail === undefined ? [] : [escapeControls(detail)]),
    ...(task.merged !== undefined && task.phase === "done"
      ? [task.merged.ref.replace("refs/heads/", "branch ")]
      : []),
    ...[nextStep(task) ?? []].flat(),
  ];
}

const NEEDS: Readonly<Partial<Record<TaskRow["phase"], string>>> = {
  asking: "needs an answer",
  approving: "needs approval",
  suspended: "is suspended",
};

function exitCode(standings: readonly TaskProgress[]): number {
  if (standings.includes("needsUser")) return 10;
  if (standings.includes("suspended")) return 11;
  return standings.includes("failed") ? 1 : 0;
}
