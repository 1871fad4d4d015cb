import { mintId } from "@flint/protocol";
import { Gate, needs, RedisServer } from "@flint/testkit";
import { expect, onTestFinished, vi } from "vitest";
import { LocalQueue } from "../queue/local-queue.ts";
import { DEFAULT_POOL } from "../queue/run-queue.ts";
import { RedisStore } from "../store/redis/redis-store.ts";
import { type After, afterTimeout } from "../store/redis/silence.ts";
import { testSpec } from "../testing/spec.ts";
import { FleetWorker } from "./fleet-worker.ts";
import { TaskSigner } from "./task-signature.ts";
import { WorkerRegistry } from "./worker-registry.ts";

const redisTest = needs("redis");

/** A worker that ends the one task that it is given. */
async function setUp(after?: After) {
  const redis = await RedisServer.start();
  const { url } = redis;
  const signer = TaskSigner.fromPem(TaskSigner.generate());
  const namespace = "team";
  const sign = (id: string, { spec, by }: Parameters<RedisStore["add"]>[0]) =>
    signer.sign({ namespace, id, by, spec });
  const store = await RedisStore.open({ url, namespace, version: "0", sign });
  const queue = new LocalQueue();
  const ended = new Gate();
  const problems: string[] = [];
  const worker = new FleetWorker({
    ...{ store, queue, workers: new WorkerRegistry(store), namespace, name: "w", version: "0" },
    ...{ concurrency: 1, leaseMs: 30_000, now: Date.now, after, trusted: new Set([signer.publicKey]) },
    context: () => ({ now: Date.now(), random: 0, id: () => mintId() }),
    onProblem: (message) => void problems.push(message),
    workspaces: {
      prepare: async () => ({ kind: "unable", message: "", mayPass: false }),
      remotes: async () => [],
    },
    ceiling: { folders: ["/"], merge: ["none"], network: false, allowTools: false },
    run: async (lease, { id: task, version }) => {
      const events = [{ type: "task/ended", data: { status: "done" } }] as const;
      const { status } = await store.commit({ task, expect: version, lease, events });
      expect(status).toBe("ok");
      ended.open();
    },
  });
  const { id: task } = await store.add({
    spec: testSpec({ cwd: "/", merge: "none" }),
    by: "ann",
    waiting: false,
  });
  onTestFinished(async () => {
    await queue.close();
    await store.close();
  });
  const work = async () => {
    await worker.start();
    await queue.put({ task, fence: 1, pool: DEFAULT_POOL, priority: 0 });
  };
  return { redis, store, task, worker, ended, problems, work };
}

redisTest("a worker reads nothing of a task again that its own writes have told it", async () => {
  const { store, task, worker, ended, problems, work } = await setUp();
  const [read, events] = [vi.spyOn(store, "read"), vi.spyOn(store, "events")];
  await work();
  await ended.opened;

  await worker.drain(0);
  expect(store.known(task)?.phase).toBe("done");
  expect(problems).toEqual([]);
  expect([read.mock.calls, events.mock.calls]).toEqual([[], []]);
});

redisTest("a worker merges no task in another way than it was signed", async () => {
  const { store, task, worker, work } = await setUp();
  const approved = { type: "task/approved", data: { by: "mallory", tree: null, merge: "squash" } } as const;
  await store.commit({ task, expect: 1, events: [approved] });
  const asked = new Gate();
  store.subscribe(({ state }) => state.phase === "asking" && asked.open());
  await work();
  await asked.opened;
  await worker.drain(0);
  expect((await store.read(task))?.ask?.message).toBe(
    "Worker w does not run it: it is to be merged by squash, which is not signed.",
  );
});

redisTest("a worker drains while Redis is away, and says what it could not do", async () => {
  const { redis, worker, problems, work, ended } = await setUp((milliseconds, action) =>
    afterTimeout(milliseconds / 50, action),
  );
  await work();
  await ended.opened;
  await redis.kill();
  await worker.drain(60_000);
  expect(problems).toEqual([
    "Redis does not answer: worker w has stopped, and is listed for some seconds more.",
  ]);
});
