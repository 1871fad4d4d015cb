import type { WorkerRow } from "@flint/protocol";
import { escapeControls } from "@flint/view";
import { noArguments, oneArgument } from "../../command-line/command.ts";
import { columns, print, printJson } from "../../command-line/output.ts";
import { withTaskServer } from "../tasks/task-server.ts";

interface WorkersArguments {
  readonly values: { readonly json?: boolean | undefined };
  readonly positionals: readonly string[];
}

/** `flint workers list`: lists the workers that run the tasks. */
export async function listWorkers({ values, positionals }: WorkersArguments): Promise<number> {
  noArguments("workers list", positionals);
  const { data } = await withTaskServer((client) => client.call("worker/list", {}));
  if (values.json === true) return printJson(data);
  return print(data.length === 0 ? "No workers. Start one with flint worker.\n" : workerTable(data));
}

/** Workers as a table. */
export function workerTable(workers: readonly WorkerRow[]): string {
  const rows = workers.map(({ name, draining, load, concurrency, pools, labels, version }) => [
    escapeControls(name),
    draining ? "draining" : load > 0 ? "working" : "idle",
    `${load} of ${concurrency}`,
    escapeControls(pools.join(", ")),
    escapeControls(labels.join(", ")) || "-",
    version,
  ]);
  return columns([["WORKER", "STATUS", "TASKS", "POOLS", "LABELS", "VERSION"], ...rows]);
}

/** `flint workers drain`: asks a worker to finish and exit. */
export async function drainWorker({ values, positionals }: WorkersArguments): Promise<number> {
  const name = oneArgument("workers drain", positionals, "the name of a worker");
  const { worker } = await withTaskServer((client) => client.call("worker/drain", { name }));
  if (values.json === true) return printJson(worker);
  return print(`Worker ${escapeControls(worker.name)} takes no more tasks, and exits when it is done.\n`);
}
