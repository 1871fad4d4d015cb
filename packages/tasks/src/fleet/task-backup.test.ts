import { needs, RedisServer } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { RedisStore } from "../store/redis/redis-store.ts";
import { testSpec } from "../testing/spec.ts";
import { TaskBackup } from "./task-backup.ts";

needs("redis")("a task that Redis loses before this machine has it is not acknowledged", async () => {
  const { url } = await RedisServer.start();
  const store = await RedisStore.open({ url, namespace: "test", version: "0" });
  onTestFinished(() => store.close());
  const persisted: string[] = [];
  const backup = new TaskBackup({
    ...{ store, stored: new Map(), checkMs: 60_000, onProblem: () => undefined },
    persist: (tasks) => void persisted.push(...tasks.map(({ task }) => task)),
  });
  onTestFinished(() => backup.stop());
  const { id } = await store.add({ spec: testSpec(), by: "alice", waiting: false });
  await store.connection.flushall();
  const other = await store.add({ spec: testSpec(), by: "alice", waiting: false });
  await expect(backup.accept([other.id, id])).rejects.toThrow("Redis has lost 1 of the 2 tasks just added");
  expect(persisted).toEqual([other.id]);
});
