import type { TaskRow } from "@flint/protocol";
import { hasEnded, inOrder, TASK_COLUMNS, taskCells } from "@flint/view/tasks";
import { type Given, noArguments } from "../../command-line/command.ts";
import type { Flags } from "../../command-line/flags.ts";
import { columns, say, sayJson } from "../../command-line/output.ts";
import { labelOf } from "./labels.ts";
import { withTaskServer } from "./task-server.ts";

interface ListArguments {
  readonly values: {
    readonly all?: boolean | undefined;
    readonly label?: readonly string[] | undefined;
    readonly json?: boolean | undefined;
  };
  readonly positionals: Given<Flags>["positionals"];
}

/** `flint tasks list`: lists tasks, those that wait for a person first. */
export async function listTasks({ values, positionals }: ListArguments): Promise<number> {
  noArguments("tasks list", positionals);
  const { data } = await withTaskServer((client) => client.call("task/list", {}));
  const wanted = (values.label ?? []).map(labelOf);
  const hasLabels = ({ labels = [] }: TaskRow) => wanted.every((label) => labels.includes(label));
  const shown = inOrder(data).filter((task) => (values.all === true || !hasEnded(task)) && hasLabels(task));
  if (values.json === true) return sayJson(shown);
  if (shown.length === 0) {
    if (wanted.length > 0) return say(`No open tasks with the label ${wanted.join(", ")}.\n`);
    const hidden = data.length === 0 ? "" : " flint tasks list --all shows those that have ended.";
    return say(`No open tasks.${hidden}\n`);
  }
  return say(columns([TASK_COLUMNS, ...shown.map((task) => taskCells(task, Date.now()))]));
}
