import { needs, RedisServer, type TestRegistrar } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { BullQueue } from "./bull/bull-queue.ts";
import { LocalQueue } from "./local-queue.ts";
import { DEFAULT_POOL, type QueuedRun, type RunQueue } from "./run-queue.ts";

const QUEUES: readonly (readonly [string, TestRegistrar, () => Promise<RunQueue>])[] = [
  ["in this process", test, async () => closed(new LocalQueue())],
  [
    "on BullMQ",
    needs("redis"),
    async () => {
      const { url } = await RedisServer.start();
      return closed(await BullQueue.open({ url, namespace: "test", lockMs: 1000 }));
    },
  ],
];

function closed<Queue extends RunQueue>(queue: Queue): Queue {
  onTestFinished(() => queue.close());
  return queue;
}

const run = (task: string, more: Partial<QueuedRun> = {}): QueuedRun => ({
  ...{ task, fence: 1, pool: DEFAULT_POOL, priority: 0 },
  ...more,
});

/** Handles runs one after the other, and resolves when so many came. */
function collect(queue: RunQueue, count: number, pools = [DEFAULT_POOL], concurrency = 1) {
  const seen: string[] = [];
  const done = new Promise<readonly string[]>((resolve) => {
    queue.take(pools, concurrency, async ({ task, fence }) => {
      seen.push(`${task}.${fence}`);
      if (seen.length === count) resolve(seen);
    });
  });
  return done;
}

describe.each(QUEUES)("a queue %s", (_name, test, open) => {
  test("hands over by priority, then by age", async () => {
    const queue = await open();
    for (const each of [run("a"), run("b", { priority: 5 }), run("c"), run("d", { priority: -5 })])
      await queue.put(each);
    expect(await collect(queue, 4)).toEqual(["b.1", "a.1", "c.1", "d.1"]);
  });

  test("has a run once, however often it was put, until it is done", async () => {
    const queue = await open();
    await Promise.all([queue.put(run("a")), queue.put(run("a"))]);
    await queue.put(run("a", { fence: 2 }));
    const last = run("z", { priority: -100 });
    await queue.put(last);
    expect(await collect(queue, 3)).toEqual(["a.1", "a.2", "z.1"]);
  });

  test("hands over again what was put again after it was done", async () => {
    const queue = await open();
    const handled: string[] = [];
    const twice = new Promise<void>((resolve) => {
      queue.take([DEFAULT_POOL], 1, async ({ task }) => {
        handled.push(task);
        if (task === "b" && handled.length < 4) {
          await queue.put(run("a"));
          await queue.put(run("b", { fence: handled.length }));
        }
        if (handled.length === 4) resolve();
      });
    });
    await queue.put(run("a"));
    await queue.put(run("b"));
    await twice;
    expect(handled.slice(0, 3)).toEqual(["a", "b", "a"]);
  });

  test("delays a run", async () => {
    const queue = await open();
    await queue.put(run("late", { delayMs: 1_000, priority: 50 }));
    await queue.put(run("soon"));
    expect(await collect(queue, 2)).toEqual(["soon.1", "late.1"]);
  });

  test("gives a pool's runs only to those who take from it", async () => {
    const queue = await open();
    await queue.put(run("other", { pool: "gpu" }));
    await queue.put(run("mine"));
    expect(await collect(queue, 1)).toEqual(["mine.1"]);
    expect(await collect(queue, 1, ["gpu", "@worker"])).toEqual(["other.1"]);
  });

  test("takes back a run that waits", async () => {
    const queue = await open();
    await queue.put(run("a"));
    await queue.put(run("b"));
    await queue.remove(run("a"));
    expect(await collect(queue, 1)).toEqual(["b.1"]);
  });

  test("hands over as many at once as were asked for, and ends once they are done", async () => {
    const queue = await open();
    for (const task of ["a", "b", "c"]) await queue.put(run(task));
    let running = 0;
    let most = 0;
    const finish: (() => void)[] = [];
    let started = () => {};
    const twoRun = new Promise<void>((resolve) => {
      started = resolve;
    });
    const taker = queue.take([DEFAULT_POOL, "gpu"], 2, async () => {
      running += 1;
      most = Math.max(most, running);
      if (running === 2) started();
      await new Promise<void>((resolve) => finish.push(resolve));
      running -= 1;
    });
    await twoRun;
    const closing = taker.close();
    for (const each of finish) each();
    await closing;
    expect([most, running]).toEqual([2, 0]);
  });
});
