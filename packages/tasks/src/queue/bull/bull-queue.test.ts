import { needs, RedisServer } from "@flint/testkit";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { expect, onTestFinished } from "vitest";
import { DEFAULT_POOL } from "../run-queue.ts";
import { BullQueue } from "./bull-queue.ts";

/** The queue as a dashboard opens it: with BullMQ alone, by the documented name and prefix. */
function dashboard(url: string, namespace: string, pool: string): Queue {
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  const queue = new Queue(`runs-${pool}`, { connection, prefix: `flint:{${namespace}}:bull` });
  onTestFinished(async () => {
    await queue.close();
    connection.disconnect();
  });
  return queue;
}

needs("redis")("a dashboard for BullMQ sees the runs, and how many were handled", async () => {
  const { url } = await RedisServer.start();
  const queue = await BullQueue.open({ url, namespace: "team" });
  onTestFinished(() => queue.close());
  for (const task of ["a", "b"]) await queue.put({ task, fence: 1, pool: DEFAULT_POOL, priority: 5 });
  const seen = dashboard(url, "team", DEFAULT_POOL);
  expect(await seen.getJobCounts("prioritized", "completed", "failed")).toEqual({
    ...{ prioritized: 2, completed: 0, failed: 0 },
  });
  const [job] = await seen.getJobs("prioritized");
  expect(job).toMatchObject({ name: "run", data: { fence: 1 }, opts: { attempts: 1, priority: 96 } });
  queue.take([DEFAULT_POOL], 1, async () => {});
  await expect.poll(() => seen.getJobCounts("completed")).toEqual({ completed: 2 });
  expect(await seen.getMetrics("completed")).toMatchObject({ meta: { count: 2 } });
});
