// Measures what a run of a fleet costs. Arguments: the address of a Redis, how many tasks and how many rounds. Writes JSON:
// the milliseconds for each task in each round, for tasks that one worker leases, writes for and ends, and for jobs of a
// plain BullMQ queue that do nothing.
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
import { testSpec } from "../../packages/tasks/src/testing/spec.ts";
import { interleave } from "../rounds.ts";

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

async function timedTasks(): Promise<number> {
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
      places: {
        prepare: async () => ({ kind: "unable", message: "", mayPass: false }),
        remotes: async () => [],
      },
    },
    ceiling: { folders: ["/"], merge: ["none"], network: false, acceptApprovals: false },
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
  const start = performance.now();
  dispatcher.start();
  await worker.start();
  await reached;
  const took = performance.now() - start;
  await worker.drain(0);
  await dispatcher.stop();
  await queue.close();
  await store.close();
  return took / COUNT;
}

async function timedJobs(): Promise<number> {
  made += 1;
  const [name, path] = [`plain-${made}`, new URL(url).pathname];
  const connection = new Redis({ path, maxRetriesPerRequest: null });
  const queue = new Queue(name, { connection });
  await queue.addBulk(Array.from({ length: COUNT }, (_, index) => ({ name: "run", data: { index } })));
  const { reached, count } = counter(COUNT);
  const start = performance.now();
  const worker = new Worker(name, async () => count(), { connection, concurrency: CONCURRENCY });
  await reached;
  const took = performance.now() - start;
  await worker.close();
  await queue.close();
  connection.disconnect();
  return took / COUNT;
}

const measured = await interleave(Number(rounds), { task: timedTasks, job: timedJobs });
process.stdout.write(JSON.stringify(measured));
