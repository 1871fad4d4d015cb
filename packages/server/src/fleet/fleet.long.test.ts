import { RedisStore } from "@flint/tasks/fleet";
import { Gate, needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import {
  addToFleet as add,
  setUpFleet as setUp,
  untilInFleet as until,
  writesFile as writes,
} from "../testing/fleet-fixture.ts";
import { untilTask } from "../testing/task-fixture.ts";

async function openRedis(url: string) {
  const store = await RedisStore.open({ url, namespace: "test", version: "0" });
  return { connection: store.connection, close: () => store.close() };
}

const fleetTest = needs("redis", "bwrap", "git");

describe("a fleet", () => {
  fleetTest("runs a task on a worker, from a server that only added it", async () => {
    const { client, cwd, startWorker } = await setUp((_name, _text, folder) => writes(folder));
    const id = await add(client, cwd);
    await startWorker("w1");
    const task = await until(client, id, "approving", "failed", "asking");
    expect(task, JSON.stringify(task)).toMatchObject({ phase: "approving", thread: { worker: "w1" } });
    expect((await client.call("task/diff", { taskId: id })).diff).toContain("b.txt");
  });

  fleetTest(
    "gives a task back when its worker drains, and another goes on in a folder of its own",
    async () => {
      const gate = new Gate();
      const folders = new Map<string, string>();
      const { client, cwd, startWorker } = await setUp((name, _text, folder) => {
        folders.set(name, folder);
        return name === "w1" ? [{ wait: gate }] : writes(folder);
      });
      const first = await startWorker("w1");
      const id = await add(client, cwd);
      await gate.reached;
      await first.drain(0);
      await startWorker("w2");
      const task = await until(client, id, "approving", "failed", "asking");
      expect(task).toMatchObject({ phase: "approving", attempt: 1, thread: { worker: "w2" } });
      expect(folders.get("w1")).not.toBe(folders.get("w2"));
      const { events } = await client.call("task/read", { taskId: id });
      expect(events.map(({ type }) => type)).toContain("run/released");
    },
  );

  fleetTest("runs a task with labels only on a worker that offers all of them", async () => {
    const { client, cwd, startWorker } = await setUp((_name, _text, folder) => writes(folder));
    const labels = ["gpu", "zone=eu"];
    const id = await add(client, cwd, { labels });
    await startWorker("w1", { labels: ["gpu"] });
    // A worker with some of them, or with more, takes what asks for none.
    const plain = await add(client, cwd);
    expect(await until(client, plain, "approving", "asking")).toMatchObject({ thread: { worker: "w1" } });
    const { data } = await client.call("task/list", {});
    expect(data.find((task) => task.id === id)).toMatchObject({ phase: "ready", labels });
    await startWorker("w2", { labels: [...labels, "fast"] });
    expect(await until(client, id, "approving", "asking")).toMatchObject({ thread: { worker: "w2" } });
  });

  fleetTest("brings a message to the turn that runs on a worker, and to no other", async () => {
    let prompts: string[] = [];
    const { client, cwd, startWorker } = await setUp((_name, text, folder) => {
      prompts = [...prompts, text];
      return prompts.length === 1 ? [{ untilSteered: true }, ...writes(folder)] : writes(folder);
    });
    await startWorker("w1");
    const id = await add(client, cwd, { checks: [{ command: "test -e c.txt" }], rounds: 2 });
    await untilTask(client, id, ({ thread }) => thread?.turnId !== undefined);
    const steer = { taskId: id, content: "Mind the tests" };
    expect(await client.call("task/steer", steer)).toMatchObject({ live: true, turn: { worker: "w1" } });
    await until(client, id, "approving", "failed", "asking");
    expect(prompts).toHaveLength(2);
    expect(prompts[1]).not.toContain("Mind the tests");
    const { events } = await client.call("task/read", { taskId: id });
    const steered = events.filter(({ type }) => type === "task/steered").map(({ data }) => data);
    expect(steered).toMatchObject([{ live: false }, { live: true, answers: true }]);
  });

  fleetTest("does not run unsigned tasks, or what a worker does not allow", async () => {
    const { client, cwd, startWorker, fleet } = await setUp((_name, _text, folder) => writes(folder));
    const forger = await RedisStore.open({ url: fleet.redis, namespace: "test", version: "0" });
    const merging = await add(client, cwd, { merge: "squash" });
    const { spec } = await client.call("task/read", { taskId: merging });
    const forged = await forger.add({ spec: { ...spec, merge: "none" }, by: "mallory", waiting: false });
    await forger.close();
    await startWorker("w1");
    expect((await until(client, merging, "asking", "approving")).ask?.message).toBe(
      "Worker w1 does not let a task merge by squash; allowed are none.",
    );
    expect((await until(client, forged.id, "asking", "approving")).ask?.message).toContain("is not signed");
  });

  fleetTest("does not run a signed task that was changed or copied", async () => {
    const { client, cwd, startWorker, fleet } = await setUp((_name, _text, folder) => writes(folder));
    const id = await add(client, cwd);
    const forger = await RedisStore.open({ url: fleet.redis, namespace: "test", version: "0" });
    const [state, [added]] = [await forger.read(id), await forger.events(id)];
    if (state === undefined || added?.type !== "task/added") throw new Error("There is no task");
    const spec = { ...state.spec, prompt: "Delete it" };
    const changed = { ...added, data: { ...added.data, spec, number: 2 } };
    await forger.restore({ ...state, id: "changed", number: 2, spec }, [changed]);
    const copied = { ...added, data: { ...added.data, number: 3 } };
    await forger.restore({ ...state, id: "copied", number: 3 }, [copied]);
    await forger.close();
    await startWorker("w1");
    for (const forged of ["changed", "copied"])
      expect((await until(client, forged, "asking", "approving")).ask?.message).toContain(
        "The signature of the task does not match",
      );
    expect(await until(client, id, "asking", "approving")).toMatchObject({ phase: "approving" });
  });

  fleetTest("does not run a task again that Redis has from an old file, also after a restart", async () => {
    const runs: string[] = [];
    const { client, cwd, startWorker, fleet } = await setUp((_name, text, folder) => {
      runs.push(text);
      return writes(folder);
    });
    const id = await add(client, cwd, { checks: [{ command: "true" }], approvedBy: "reviewer" });
    const { connection: redis, close } = await openRedis(fleet.redis);
    const keys = await redis.keys("*");
    const old = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
    const worker = await startWorker("w1");
    await until(client, id, "done", "failed", "asking");
    await worker.drain(0);
    await redis.flushall();
    for (const [index, key] of keys.entries()) await redis.restore(key, 0, old[index] ?? "");
    await close();
    await startWorker("w1");
    expect((await until(client, id, "asking", "done")).ask?.message).toContain("put back an old state");
    expect(runs).toHaveLength(1);
  });

  fleetTest("lets a task that names no agent use only those of the worker's ceiling", async () => {
    const { client, cwd, startWorker, home } = await setUp((_name, _text, folder) => writes(folder));
    const ceiling = {
      ...{ folders: [home.path], merge: ["none" as const], network: false, allowTools: false },
      ...{ agents: ["beta"], defaultModel: "beta" },
    };
    await startWorker("w1", { ceiling });
    const named = await add(client, cwd);
    expect((await until(client, named, "asking", "approving")).ask?.message).toContain("use the agent alpha");
    const unnamed = await add(client, cwd, { executors: [{}] });
    // This worker has no agent beta; the default one, alpha, is not used in its place.
    expect((await until(client, unnamed, "failed", "asking", "approving")).phase).not.toBe("approving");
  });

  needs(
    "redis",
    "bwrap",
    "git",
  )("adds its tasks again after Redis has lost them [P38]", async () => {
    const { client, cwd, startWorker, fleet } = await setUp((_name, _text, folder) => writes(folder));
    const ids = [await add(client, cwd), await add(client, cwd)];
    const redis = await RedisStore.open({ url: fleet.redis, namespace: "test", version: "0" });
    await redis.connection.flushall();
    await redis.close();
    await startWorker("w1");
    for (const id of ids)
      expect(await until(client, id, "approving", "failed", "asking")).toMatchObject({ phase: "approving" });
  });

  fleetTest("lists its workers, and drains one of them from outside", async () => {
    const { client, startWorker } = await setUp(() => []);
    expect(await client.call("worker/list", {})).toEqual({ data: [] });
    const [first, second] = [await startWorker("w1", { labels: ["gpu"] }), await startWorker("w2")];
    const { data } = await client.call("worker/list", {});
    expect(data).toMatchObject([
      { name: "w1", pools: ["default"], labels: ["gpu"], concurrency: 2, load: 0, draining: false },
      { name: "w2", labels: [] },
    ]);
    await expect(client.call("worker/drain", { name: "w3" })).rejects.toThrow("There is no worker named w3.");
    let others = 0;
    void second.drainRequested.then(() => (others += 1));
    await client.call("worker/drain", { name: "w1" });
    await first.drainRequested;
    await first.drain(0);
    expect((await client.call("worker/list", {})).data.map(({ name }) => name)).toEqual(["w2"]);
    // Another worker of that name is not drained.
    await startWorker("w1");
    expect((await client.call("worker/list", {})).data).toMatchObject([{ draining: false }, { name: "w2" }]);
    expect(others).toBe(0);
  });

  fleetTest(
    "has a worker's name once",
    async () => {
      const { startWorker } = await setUp(() => []);
      await startWorker("w1");
      await expect(startWorker("w1")).rejects.toThrow("Another worker named w1 is running");
    },
    40_000,
  );
});
