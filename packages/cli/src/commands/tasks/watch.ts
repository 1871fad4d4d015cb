import type { TaskRow } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { escapeControls } from "@flint/view";
import { hasEnded, nextStep, statusOf } from "@flint/view/tasks";
import { say } from "../../command-line/output.ts";
import { findTask, withTaskServer } from "./task-server.ts";

const POLL_MS = 30_000;

interface WatchArguments {
  readonly values: { readonly bell?: boolean | undefined };
  readonly positionals: readonly string[];
}

/** `flint tasks watch`: prints changes until nothing goes on without a person. The exit code says how it stands. */
export async function watchTasks({ values, positionals }: WatchArguments): Promise<number> {
  return withTaskServer(async (client) => {
    const [text] = positionals;
    const only = text === undefined ? undefined : (await findTask(client, text)).id;
    const shown = new Map<string, string>();
    let revision: number | undefined;
    for (;;) {
      const list = await changedList(client, revision);
      revision = list.revision;
      const tasks = list.data.filter(({ id }) => only === undefined || id === only);
      // Of those that ended long before this, only the numbers are of interest.
      let isNew = false;
      for (const task of tasks)
        if (report(task, shown, only === undefined && isOld(task))) isNew ||= !GOES_ON.has(task.phase);
      if (isNew && values.bell === true && process.stdout.isTTY) say("\u0007");
      if (!tasks.some(({ phase }) => GOES_ON.has(phase))) return exitCode(tasks, shown);
    }
  });
}

const GOES_ON: ReadonlySet<TaskRow["phase"]> = new Set(["ready", "running", "waiting"]);

function changedList(client: FlintClient, revision: number | undefined) {
  return client.call("task/list", revision === undefined ? {} : { revision, timeoutMs: POLL_MS }, {
    timeoutMs: 2 * POLL_MS,
  });
}

const RECENT_MS = 600_000;

function isOld(task: TaskRow): boolean {
  return hasEnded(task) && Date.now() - task.updatedAtMs > RECENT_MS;
}

/** Prints where a task stands; false if that was printed before. */
function report(task: TaskRow, shown: Map<string, string>, isSilent: boolean): boolean {
  const status = statusOf(task, Date.now());
  const key = `${task.attempt}.${task.round} ${task.phase} ${task.step ?? ""} ${task.ask?.id ?? ""}`;
  if (isSilent || shown.get(task.id) === key) return false;
  shown.set(task.id, key);
  const round = task.round === 0 ? "" : `, round ${task.round} of ${task.rounds}`;
  say(`#${task.number} ${escapeControls(task.title)}: ${status}${round}\n`);
  const detail =
    task.ask?.message ?? task.error ?? (task.phase === "suspended" ? task.note : task.merged?.note);
  if (detail !== undefined) say(`   ${escapeControls(detail)}\n`);
  if (task.merged !== undefined && task.phase === "done")
    say(`   ${task.merged.ref.replace("refs/heads/", "branch ")}\n`);
  const next = nextStep(task);
  if (next !== undefined) say(`   ${next}\n`);
  return true;
}

function exitCode(tasks: readonly TaskRow[], shown: ReadonlyMap<string, string>): number {
  const seen = tasks.filter(({ id }) => shown.has(id));
  if (seen.some(({ phase }) => phase === "asking" || phase === "approving")) return 10;
  if (seen.some(({ phase }) => phase === "suspended")) return 11;
  return seen.some(({ phase }) => phase === "failed") ? 1 : 0;
}
