import { spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { JournalStore, TaskService } from "@flint/tasks";
import type { Bench, Figure } from "../../bench.ts";
import { watchChild } from "../../processes/child.ts";
import { residentMegabytes, wakeUps } from "../../processes/process-usage.ts";
import { interleave } from "../../report/rounds.ts";
import { lowest } from "../../report/statistics.ts";

const TASKS = 1_000;
/** Time after which the work that a start leaves behind is done, including garbage collection. */
const SETTLE_MS = 14_000;
const DAY_MS = 86_400_000;

interface Resting {
  readonly megabytes: number;
  readonly wakeUps: number;
}

/** Cost of a server with many waiting tasks while nothing happens. */
export const idleTasks: Figure = {
  name: "idle-tasks",
  async measure(bench: Bench) {
    const [flint = ""] = bench.flint;
    const restMs = bench.choose(10_000, 2_000);
    const homes = { one: await homeWith(bench, 1), many: await homeWith(bench, TASKS) };
    const seen: Record<keyof typeof homes, Resting[]> = { one: [], many: [] };
    const measureOnce = async (name: keyof typeof homes) => {
      const resting = await atRest(flint, homes[name], restMs);
      seen[name].push(resting);
      return resting.megabytes;
    };
    await interleave(bench.choose(3, 1), { one: () => measureOnce("one"), many: () => measureOnce("many") });
    const memory = (name: keyof typeof homes) => lowest(seen[name].map(({ megabytes }) => megabytes));
    const wakeUpsOf = (name: keyof typeof homes) => lowest(seen[name].map((each) => each.wakeUps));
    const per10s = 10_000 / restMs;
    return [
      {
        figure: "memory of a server with 1,000 waiting tasks, beyond that with one",
        ...{ value: memory("many") - memory("one"), unit: "MB", target: { of: "value", most: 5 } },
      },
      {
        figure: "… times that it wakes up in 10 s, beyond that with one",
        value: Math.max(0, wakeUpsOf("many") - wakeUpsOf("one")) * per10s,
        ...{ unit: "", target: { of: "value", most: 1 } },
      },
    ];
  },
};

/** A state folder with so many tasks that start tomorrow. */
async function homeWith(bench: Bench, count: number): Promise<string> {
  const home = await bench.newFolder();
  // No task runs here, so these are not used.
  const unused = undefined as never;
  const store = await JournalStore.open({ path: join(home, "tasks", "journal.jsonl"), now: Date.now });
  const service = new TaskService({
    ...{ store, workspaces: unused, client: unused, now: Date.now, concurrency: 0 },
    onProblem: (message) => process.stderr.write(`${message}\n`),
  });
  const tasks = Array.from({ length: count }, (_, index) => ({
    ...{ prompt: `Port module ${index}`, cwd: home, notBeforeMs: Date.now() + DAY_MS },
  }));
  await service.call("task/add", { tasks }, "ann");
  await service.close();
  return home;
}

async function atRest(flint: string, home: string, milliseconds: number): Promise<Resting> {
  const environment = { ...process.env, FLINT_HOME: home, FLINT_CONFIG: join(home, "config.toml") };
  const args = [flint, "serve", "--listen", "local"];
  const child = spawn(process.execPath, args, { env: environment, stdio: ["ignore", "ignore", "pipe"] });
  watchChild(child);
  const ended = new Promise((resolve) => child.once("exit", resolve));
  try {
    await new Promise<void>((resolve, reject) => {
      let output = "";
      child.stderr.on("data", (bytes) => {
        output += bytes;
        if (output.includes("serving")) resolve();
      });
      child.once("exit", () => reject(new Error(`The server ended: ${output}`)));
    });
    await pass(SETTLE_MS);
    const { pid = 0 } = child;
    const before = wakeUps(pid);
    await pass(milliseconds);
    return { wakeUps: wakeUps(pid) - before, megabytes: residentMegabytes(pid) };
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
}
