// Measures what a run of a fleet costs. Arguments: the address of a Redis, how many tasks and how many rounds. Writes JSON:
// the milliseconds for each task in each round, for tasks that one worker leases, writes for and ends, 16 at once, and for
// jobs of a plain BullMQ queue that do nothing, also 16 at once: by the clock, and of processors, those of Redis included.
import { mintId } from "@flint/protocol";
import {
  BullQueue,
  Dispatcher,
  FleetWorker,
  RedisStore,
  TaskSigner,
  WorkerRegistry,
} from "@flint/tasks/fleet";
import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import { testSpec } from "../../../packages/tasks/src/testing/spec.ts";
import { interleave } from "../../report/rounds.ts";

const [url = "", tasks = "1", rounds = "1"] = process.argv.slice(2);
const COUNT = Number(tasks);
const CONCURRENCY = 16;
const LEASE_MS = 30_000;
const signer = TaskSigner.fromPem(TaskSigner.generate());
const context = () => ({ now: Date.now(), random: Math.random(), id: () => mintId() });
const onProblem = (message: string) => void process.stderr.write(`${message}\n`);
let made = 0;

/** Resolves after so many calls of `count`. */
function counter(most: number): { readonly reached: Promise<void>; count(): void } {
  let [left, done] = [most, () => {}];
  const reached = new Promise<void>((resolve) => {
    done = resolve;
  });
  return {
    reached,
    count() {
      left -= 1;
      if (left === 0) done();
    },
  };
}

/** Cost of each task: milliseconds by the clock, and of this process and Redis together. */
interface Cost {
  readonly clock: number;
  readonly processor: number;
}

async function costOf(redis: Redis, action: () => Promise<void>): Promise<Cost> {
  const [used, own, start] = [await usedByRedis(redis), process.cpuUsage(), performance.now()];
  await action();
  const clock = performance.now() - start;
  const { user, system } = process.cpuUsage(own);
  const processor = (user + system) / 1000 + (await usedByRedis(redis)) - used;
  return { clock: clock / COUNT, processor: processor / COUNT };
}

async function usedByRedis(redis: Redis): Promise<number> {
  const info = await redis.info("cpu");
  const seconds = (name: string) => Number(new RegExp(`^used_cpu_${name}:(.*)$`, "m").exec(info)?.[1]);
  return (seconds("user") + seconds("sys")) * 1000;
}

async function timedTasks(): Promise<Cost> {
  made += 1;
  const namespace = `bench-${made}`;
  const store = await RedisStore.open({
    ...{ url, namespace, version: "0" },
    sign: (id, { spec, by }) => signer.sign({ namespace, id, by, spec }),
  });
  const queue = await BullQueue.open({ url, namespace, onProblem });
  const workers = new WorkerRegistry(store);
  const spec = testSpec({ cwd: "/", merge: "none" });
  await Promise.all(Array.from({ length: COUNT }, () => store.add({ spec, by: "ann", waiting: false })));
  const { reached, count } = counter(COUNT);
  const shared = { store, queue, workers, leaseMs: LEASE_MS, context, onProblem };
  const worker = new FleetWorker({
    ...{ ...shared, name: "w", namespace, version: "0", concurrency: CONCURRENCY, now: Date.now },
    ...{
      workspaces: {
        prepare: async () => ({ kind: "unable", message: "", mayPass: false }),
        remotes: async () => [],
      },
    },
    ceiling: { folders: ["/"], merge: ["none"], network: false, allowTools: false },
    trusted: new Set([signer.publicKey]),
    run: async (lease, { id: task, version }) => {
      const used = { type: "run/used", data: { usage: { seconds: 0 } } } as const;
      const first = await store.commit({ task, expect: version, lease, events: [used] });
      if (first.status !== "ok") throw new Error(`A write was ${first.status}.`);
      const ended = { type: "task/ended", data: { status: "done" } } as const;
      const { status } = await store.commit({ task, expect: first.state.version, lease, events: [ended] });
      if (status === "ok") count();
    },
  });
  const dispatcher = new Dispatcher({ ...shared, affinityMs: 0 });
  const cost = await costOf(store.connection, async () => {
    dispatcher.start();
    await worker.start();
    await reached;
  });
  await worker.drain(0);
  await dispatcher.stop();
  await queue.close();
  await store.close();
  return cost;
}

async function timedJobs(): Promise<Cost> {
  made += 1;
  const [name, path] = [`plain-${made}`, new URL(url).pathname];
  const connection = new Redis({ path, maxRetriesPerRequest: null });
  const queue = new Queue(name, { connection });
  await queue.addBulk(Array.from({ length: COUNT }, (_, index) => ({ name: "run", data: { index } })));
  const { reached, count } = counter(COUNT);
  let worker: Worker | undefined;
  const cost = await costOf(connection, () => {
    worker = new Worker(name, async () => count(), { connection, concurrency: CONCURRENCY });
    return reached;
  });
  await worker?.close();
  await queue.close();
  connection.disconnect();
  return cost;
}

const measured = await interleave(Number(rounds), { task: timedTasks, job: timedJobs });
process.stdout.write(JSON.stringify(measured));
