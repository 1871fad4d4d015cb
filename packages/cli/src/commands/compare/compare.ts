import type { TaskRow } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import {
  areComparable,
  belowEachOther,
  canBeKept,
  changesIn,
  keepResult,
  namesIn,
  sideBySide,
  startComparison,
} from "@flint/tui/compare";
import { textOf } from "@flint/tui/draw";
import { statusOf, usageText } from "@flint/view/tasks";
import { oneArgument, UsageError } from "../../command-line/command.ts";
import { columns, print, printError, printJson } from "../../command-line/output.ts";
import { isInteractive } from "../../command-line/terminal.ts";
import { withTaskServer } from "../tasks/task-server.ts";

interface CompareArguments {
  readonly values: {
    readonly agents?: string | undefined;
    readonly check?: readonly string[] | undefined;
    readonly diff?: boolean | undefined;
    readonly json?: boolean | undefined;
  };
  readonly positionals: readonly string[];
}

interface Candidate {
  readonly agent: string;
  readonly task: TaskRow;
  readonly diff: string;
  readonly tree: string | null;
}

const POLL_MS = 30_000;
const MOVING: ReadonlySet<TaskRow["phase"]> = new Set(["waiting", "ready", "running"]);

/** `flint compare`: has several agents do the same, each in a worktree of its own, and keeps one result. */
export async function compareAgents({ values, positionals }: CompareArguments): Promise<number> {
  const prompt = oneArgument("compare", positionals, "a prompt");
  const agents = namesIn(values.agents ?? "");
  if (!areComparable(agents))
    throw new UsageError("--agents needs at least two different agents, such as --agents claude,codex.");
  const requested = { prompt, cwd: process.cwd(), agents, checks: values.check ?? [] };
  return withTaskServer(async (client) => {
    const added = await startComparison(client, requested);
    const ended = await untilResting(
      client,
      added.map(({ id }) => id),
    );
    const candidates = await Promise.all(
      ended.map(async (task, index): Promise<Candidate> => {
        const { diff, tree } = await client.call("task/diff", { taskId: task.id });
        return { agent: agents[index] ?? "", task, diff, tree };
      }),
    );
    if (values.json === true) return printJson(candidates);
    print(comparison(candidates));
    if (values.diff === true) print(diffsOf(candidates));
    return keepOne(client, candidates);
  });
}

/** The tasks, in this order, once each has ended or needs the user. */
async function untilResting(client: FlintClient, ids: readonly string[]): Promise<TaskRow[]> {
  let revision: number | undefined;
  for (;;) {
    const known = revision === undefined ? {} : { revision, timeoutMs: POLL_MS };
    const list = await client.call("task/list", known, { timeoutMs: 2 * POLL_MS });
    revision = list.revision;
    const tasks = ids.flatMap((id) => list.data.find((task) => task.id === id) ?? []);
    if (!tasks.some(({ phase }) => MOVING.has(phase))) return tasks;
  }
}

/** Shows the results of the agents side by side. */
export function comparison(candidates: readonly Candidate[]): string {
  const rows = candidates.map(({ agent, task, diff }) => [
    agent,
    statusOf(task, Date.now()),
    changesIn(diff),
    usageText(task),
    `#${task.number}`,
  ]);
  return columns([["AGENT", "STATUS", "CHANGES", "USED", "TASK"], ...rows]);
}

/** The diffs beside each other in a terminal that is wide enough, and otherwise one after the other. */
function diffsOf(candidates: readonly Candidate[]): string {
  const titled = candidates.map(({ agent, diff }) => ({ title: agent, diff }));
  const columns = process.stdout.isTTY ? sideBySide(titled, process.stdout.columns) : undefined;
  const lines = columns ?? belowEachOther(titled);
  return `\n${lines.map((line) => `${textOf(line).trimEnd()}\n`).join("")}`;
}

/** Asks which result to keep; the tasks of the others are cancelled. Without a terminal, says how. */
async function keepOne(client: FlintClient, candidates: readonly Candidate[]): Promise<number> {
  const done = candidates.filter(({ task }) => canBeKept(task));
  if (done.length === 0) {
    print("\nNo agent has a result that can be kept. flint tasks show N says why.\n");
    return 1;
  }
  if (!isInteractive()) {
    print("\nKeep one with flint tasks approve N, and drop the others with flint tasks cancel N.\n");
    return 10;
  }
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const names = done.map(({ agent }) => agent).join(", ");
  const reply = await lines
    .question(`\nKeep which (${names})? Enter decides later: `)
    .finally(() => lines.close());
  if (reply.trim() === "") return 10;
  const kept = done.find(({ agent, task }) =>
    [agent, `#${task.number}`, `${task.number}`].includes(reply.trim()),
  );
  if (kept === undefined)
    throw new UsageError(`${reply.trim()} is not one of ${names}. Keep one with flint tasks approve N.`);
  const tasks = candidates.map(({ task }) => task);
  const left = await keepResult(client, tasks, { id: kept.task.id, tree: kept.tree });
  for (const sentence of left) printError(sentence, 0);
  const [task] = await untilResting(client, [kept.task.id]);
  print(
    `Kept the result of ${kept.agent}: ${task?.merged?.ref.replace("refs/heads/", "branch ") ?? task?.phase}.\n`,
  );
  return 0;
}
