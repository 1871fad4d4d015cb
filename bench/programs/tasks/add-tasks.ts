// Measures adding the tasks of a file with full durability. Arguments: a folder, how many tasks and how many rounds. Writes
// JSON: the milliseconds of each round from the text of the file to the answer, for tasks of their own and for tasks that
// each come after the one before, and for reading the file alone.
import { join } from "node:path";
import { JournalStore, TaskService } from "@flint/tasks";
import { readTaskFile } from "../../../packages/cli/src/commands/tasks/task-file.ts";
import { interleave } from "../../report/rounds.ts";

const [folder = "", tasks = "1", rounds = "1"] = process.argv.slice(2);
const COUNT = Number(tasks);
// Workers run no task here, so these are not used.
const unused = undefined as never;

function fileOf(line: (index: number) => string): string {
  return Array.from({ length: COUNT }, (_, index) => line(index)).join("");
}

const apart = fileOf((index) => `- prompt: Port module ${index}\n  executor: claude\n`);
const chained = fileOf(
  (index) =>
    `- name: t${index}\n  prompt: Port module ${index}\n${index === 0 ? "" : `  after: t${index - 1}\n`}`,
);

let made = 0;

async function timedAdd(text: string): Promise<number> {
  made += 1;
  const path = join(folder, `journal-${made}.jsonl`);
  const store = await JournalStore.open({ path, now: Date.now });
  const service = new TaskService({
    ...{ store, workspaces: unused, client: unused, now: Date.now, concurrency: 0 },
    onProblem: (message) => process.stderr.write(`${message}\n`),
  });
  const start = performance.now();
  const { data } = await service.call("task/add", { tasks: readTaskFile(text, folder, "tasks.yaml") }, "ann");
  const took = performance.now() - start;
  if (data.length !== COUNT) throw new Error(`${data.length} tasks were added.`);
  await service.close();
  return took;
}

async function timedReading(): Promise<number> {
  const start = performance.now();
  readTaskFile(apart, folder, "tasks.yaml");
  return performance.now() - start;
}

const measured = await interleave(Number(rounds), {
  apart: () => timedAdd(apart),
  chained: () => timedAdd(chained),
  reading: timedReading,
});
process.stdout.write(JSON.stringify(measured));
