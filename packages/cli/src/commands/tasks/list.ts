import { hasEnded, inOrder, TASK_COLUMNS, taskCells } from "@flint/view/tasks";
import { type Given, noArguments } from "../../command-line/command.ts";
import type { Flags } from "../../command-line/flags.ts";
import { columns, say, sayJson } from "../../command-line/output.ts";
import { withTaskServer } from "./task-server.ts";

interface ListArguments {
  readonly values: { readonly all?: boolean | undefined; readonly json?: boolean | undefined };
  readonly positionals: Given<Flags>["positionals"];
}

/** `flint tasks list`: lists tasks, those that wait for a person first. */
export async function listTasks({ values, positionals }: ListArguments): Promise<number> {
  noArguments("tasks list", positionals);
  const { data } = await withTaskServer((client) => client.call("task/list", {}));
  const shown = inOrder(data).filter((task) => values.all === true || !hasEnded(task));
  if (values.json === true) return sayJson(shown);
  if (shown.length === 0) {
    const hidden = data.length === 0 ? "" : " flint tasks list --all shows those that have ended.";
    return say(`No open tasks.${hidden}\n`);
  }
  return say(columns([TASK_COLUMNS, ...shown.map((task) => taskCells(task, Date.now()))]));
}
