import { userInfo } from "node:os";
import type { TaskRow } from "@flint/protocol";
import { hasEnded, sortedTasks, TASK_COLUMNS, taskCells } from "@flint/view/tasks";
import { noArguments, type ParsedArguments } from "../../command-line/command.ts";
import type { Flags } from "../../command-line/flags.ts";
import { columns, print, printJson } from "../../command-line/output.ts";
import { labelOf } from "./given-values.ts";
import { withTaskServer } from "./task-server.ts";

interface ListArguments {
  readonly values: {
    readonly all?: boolean | undefined;
    readonly asking?: boolean | undefined;
    readonly mine?: boolean | undefined;
    readonly label?: readonly string[] | undefined;
    readonly json?: boolean | undefined;
  };
  readonly positionals: ParsedArguments<Flags>["positionals"];
}

/** `flint tasks list`: lists tasks, those that wait for the user first. */
export async function listTasks({ values, positionals }: ListArguments): Promise<number> {
  noArguments("tasks list", positionals);
  const { data } = await withTaskServer((client) => client.call("task/list", {}));
  const shown = sortedTasks(data).filter(taskFilter(values, userInfo().username));
  if (values.json === true) return printJson(shown);
  if (shown.length > 0)
    return print(columns([TASK_COLUMNS, ...shown.map((task) => taskCells(task, Date.now()))]));
  const labels = values.label ?? [];
  const hidden = data.length === 0 || values.all === true ? "" : " flint tasks list --all shows all tasks.";
  if (labels.length > 0) return print(`No open tasks with the label ${labels.join(", ")}.\n`);
  return print(`${values.asking === true ? "No task needs you." : "No open tasks."}${hidden}\n`);
}

/** Returns the filter that the options apply to a list of tasks. */
export function taskFilter(
  { all, asking, mine, label = [] }: ListArguments["values"],
  user: string,
): (task: TaskRow) => boolean {
  const requested = label.map(labelOf);
  return (task) =>
    (all === true || !hasEnded(task)) &&
    (asking !== true || task.phase === "asking" || task.phase === "approving") &&
    (mine !== true || task.addedBy === user) &&
    requested.every((name) => task.labels?.includes(name) === true);
}
