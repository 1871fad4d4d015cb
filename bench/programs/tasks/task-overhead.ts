// Measures what a task costs beside its turns. Arguments: a folder and how many tasks. Writes JSON: the milliseconds of each
// round of a task with an executor and a reviewer, without git, and those of the same two turns alone.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { composeEngine } from "@flint/server";
import { JournalStore, TaskService, type TaskWorkspaces } from "@flint/tasks";
import { scriptedDriver } from "@flint/testkit";
import { connectTo } from "../../../packages/server/src/task-parts.ts";
import { interleave } from "../../report/rounds.ts";

const [folder = "", amount = "1"] = process.argv.slice(2);
const VERDICT = JSON.stringify({ verdict: "approve", summary: "", findings: [], earlier: [] });
const MODEL = "scripted";

const cwd = join(folder, "work");
await mkdir(cwd);
const drivers = [scriptedDriver({ id: MODEL, scripts: () => [{ text: VERDICT }] })];
const engine = composeEngine({ root: join(folder, "state"), cwd, drivers });
const client = await connectTo(engine);

let trees = 0;
/** Folders and commits that cost nothing; each turn leaves another tree. */
const workspaces: TaskWorkspaces = {
  share: async (spec) => spec,
  remotes: async () => [],
  prepare: async () => ({ kind: "prepared", base: "0".repeat(40), folder: cwd }),
  isSetUp: async () => true,
  markSetUp: async () => undefined,
  committed: async () => undefined,
  commit: async () => {
    trees += 1;
    const tree = String(trees).padStart(40, "a");
    return { commit: tree, tree, changed: true };
  },
  reviewFolder: async () => cwd,
  onChangedLines: async () => new Set(),
  diff: async () => "",
  merge: async () => ({ kind: "unable", mayPass: false, message: "Nothing is merged here." }),
  remove: async () => undefined,
};
const store = await JournalStore.open({ path: join(folder, "journal.jsonl"), now: Date.now });
const service = new TaskService({
  ...{ store, workspaces, client, now: Date.now, concurrency: 1 },
  onProblem: (message) => process.stderr.write(`${message}\n`),
});

/** Until the result of a task waits for the user: one round. */
async function timedTask(): Promise<number> {
  const start = performance.now();
  const roles = { executors: [{ model: MODEL }], reviewers: [{ model: MODEL }], merge: "none" as const };
  const { data } = await service.call("task/add", { tasks: [{ prompt: "Port it", cwd, ...roles }] }, "ann");
  const id = data[0]?.id ?? "";
  await new Promise<void>((resolve, reject) => {
    const stop = store.subscribe(({ state }) => {
      if (state.id !== id || state.run !== undefined || state.phase === "ready") return;
      stop();
      if (state.phase === "approving") resolve();
      else reject(new Error(`The task is ${state.phase}: ${state.ask?.message ?? state.error}`));
    });
  });
  return performance.now() - start;
}

/** The same turns, by a client of the same engine. */
async function timedTurns(): Promise<number> {
  const start = performance.now();
  for (let turn = 0; turn < 2; turn += 1) {
    const thread = await client.startThread({ model: MODEL, cwd });
    await thread.run("Port it");
    await thread.unsubscribe();
  }
  return performance.now() - start;
}

const measured = await interleave(Number(amount), { task: timedTask, turns: timedTurns });
await service.close();
await engine.close();
process.stdout.write(JSON.stringify(measured));
