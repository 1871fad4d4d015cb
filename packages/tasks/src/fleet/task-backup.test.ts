import type { TaskState } from "@flint/protocol";
import { needs, RedisServer, temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished } from "vitest";
import { retry } from "../decide/user-actions.ts";
import { RedisStore } from "../store/redis/redis-store.ts";
import { testSpec } from "../testing/spec.ts";
import { AcceptedFile } from "./accepted-file.ts";
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

describe("a server that keeps the tasks it accepted", () => {
  /** A store, and a server that keeps what it accepts in a file. */
  async function setUp() {
    const { url } = await RedisServer.start();
    const open = async () => {
      const store = await RedisStore.open({ url, namespace: "test", version: "0" });
      onTestFinished(() => store.close());
      return store;
    };
    const [here, there] = [await open(), await open()];
    const path = (await temporaryFolder()).join("accepted.jsonl");
    const start = async () => {
      const file = await AcceptedFile.open(path);
      const backup = new TaskBackup({
        ...{ store: here, stored: file.stored, checkMs: 60_000, onProblem: () => undefined },
        persist: (tasks) => file.append(tasks),
        forget: (task, kept) => file.forget(task, kept),
      });
      onTestFinished(() => backup.stop());
      return { backup, stored: file.stored };
    };
    const add = () => here.add({ spec: testSpec(), by: "ann", waiting: false });
    const cancel = ({ id, version }: TaskState, store = here) =>
      store.commit({ task: id, expect: version, events: [{ type: "task/cancelled", data: { by: "ann" } }] });
    return { here, there, start, add, cancel };
  }

  needs("redis")("does not put back what was removed while it was away", async () => {
    const { here, there, start, add, cancel } = await setUp();
    const task = await add();
    const { backup } = await start();
    await backup.accept([task.id]);
    await backup.stop();
    await cancel(task, there);
    await there.remove(task.id);
    const again = await start();
    expect([...again.stored.keys()]).toEqual([task.id]);
    await again.backup.check();
    expect(await here.list()).toEqual([]);
    expect((await start()).stored.size).toBe(0);
  });

  needs("redis")("keeps a task until it has ended, and again when it is retried", async () => {
    const { here, start, add, cancel } = await setUp();
    const { backup } = await start();
    const task = await add();
    await backup.accept([task.id]);
    await cancel(task);
    await backup.check();
    expect((await start()).stored.size).toBe(0);
    const ended = await here.read(task.id);
    if (ended === undefined) throw new Error("The task is gone");
    await here.commit({ task: task.id, expect: ended.version, events: retry(ended, "ann") });
    await backup.accept([task.id]);
    await here.connection.flushall();
    await backup.check();
    expect(await here.list()).toMatchObject([{ id: task.id, phase: "ready" }]);
  });
});
