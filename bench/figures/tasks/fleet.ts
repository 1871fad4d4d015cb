import { join } from "node:path";
import type { TaskState } from "@flint/protocol";
import { RedisServer } from "@flint/testkit";
import { buildPrograms, WorkerProcess } from "../../../test/campaign/processes/worker-process.ts";
import { AddingServer } from "../../../test/campaign/programs/adding-server.ts";
import type { Bench, Figure } from "../../bench.ts";
import { runNode } from "../../processes/child.ts";
import type { Row } from "../../report/row.ts";
import { lowest } from "../../report/statistics.ts";

const LEASE_MS = 2_000;
/** Longer than the whole measurement, so that no run expires. */
const WORK_MS = 600_000;

/** Costs of a run that the program measures. */
type RunCost = Readonly<Record<"clock" | "processor", number>>;

/** Cost of a fleet's run beside its work, and the time for which a task waits whose worker is gone. */
export const fleet: Figure = {
  name: "fleet",
  async measure(bench: Bench) {
    const folder = await bench.newFolder();
    const redis = await RedisServer.start({ folder });
    try {
      return [...(await rate(bench, redis)), await takeOver(bench, redis, folder)];
    } finally {
      await redis.kill();
    }
  },
};

async function rate(bench: Bench, { url }: RedisServer): Promise<Row[]> {
  const amounts = [String(bench.choose(1_000, 200)), String(bench.choose(5, 1))];
  const output = await runNode([bench.program("fleet-rate"), url, ...amounts]);
  // The program says at its top what it writes.
  const { task = [], job = [] } = JSON.parse(output) as Readonly<Record<string, readonly RunCost[]>>;
  const row = (figure: string, cost: keyof RunCost): Row => ({
    ...{ figure, value: lowest(task.map((each) => each[cost])), unit: "ms" },
    ...{ floor: { name: "empty BullMQ job", value: lowest(job.map((each) => each[cost])) } },
    // 500 a second.
    target: { of: "value", most: 2 },
  });
  return [
    row("a task leased, written to and ended on Redis, 16 at once", "clock"),
    row("the same, time of processors (worker and Redis)", "processor"),
  ];
}

async function takeOver(bench: Bench, { url }: RedisServer, folder: string): Promise<Row> {
  const server = await AddingServer.open({ url, accepted: join(folder, "accepted"), leaseMs: LEASE_MS });
  const { worker: program } = await buildPrograms(join(folder, "program"));
  let names = 0;
  const start = () => {
    names += 1;
    const order = { url, name: `w${names}`, key: server.publicKey, ledger: join(folder, "ledger") };
    return WorkerProcess.start(program, { ...order, leaseMs: LEASE_MS, workMs: WORK_MS });
  };
  let workers = [await start(), await start()];
  const waits: number[] = [];
  try {
    for (let round = 0; round < bench.choose(8, 2); round += 1) {
      const id = await server.add(`task-${round}`);
      const { worker: name } = await runOf(server, id);
      const victim = workers.find((worker) => worker.name === name);
      await victim?.kill();
      const { store } = server;
      const endsAt = Number(await store.connection.zscore(store.keys.leases, id));
      await runOf(server, id, name);
      const leased = (await store.events(id)).findLast(({ type }) => type === "run/leased");
      waits.push((leased?.at ?? Number.NaN) - endsAt);
      workers = [...workers.filter((worker) => worker !== victim), await start()];
    }
  } finally {
    await Promise.all(workers.map((worker) => worker.kill()));
    await server.close();
  }
  return {
    ...{ figure: "a killed worker's task runs again after the end of its lease, slowest", unit: "ms" },
    ...{ value: Math.max(...waits), target: { of: "value", most: 1_000 } },
  };
}

/** The run of a task, as soon as it is on another worker than this one. */
function runOf({ store, states }: AddingServer, id: string, not?: string) {
  type Run = NonNullable<TaskState["run"]>;
  const current = (): Run | undefined => {
    const run = states.get(id)?.run;
    return run?.worker === not ? undefined : run;
  };
  return new Promise<Run>((resolve) => {
    const look = () => {
      const run = current();
      if (run === undefined) return;
      stop();
      resolve(run);
    };
    const stop = store.subscribe(look);
    look();
  });
}
