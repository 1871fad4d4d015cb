import { mintId } from "@flint/protocol";
import { needs, RedisServer } from "@flint/testkit";
import { describe, expect, onTestFinished } from "vitest";
import { startRound } from "../../decide/run.ts";
import { testSpec } from "../../testing/spec.ts";
import { context } from "../../testing/task.ts";
import type { TaskChange } from "../task-store.ts";
import { RedisStore } from "./redis-store.ts";
import { Script } from "./script.ts";
import { COMMIT } from "./scripts.ts";

const withRedis = needs("redis");

async function open(url: string, namespace = "test"): Promise<RedisStore> {
  const store = await RedisStore.open({ url, namespace, version: "0.1.0" });
  onTestFinished(() => store.close());
  return store;
}

const add = (store: RedisStore) => store.add({ spec: testSpec(), by: "alice", waiting: false });

/** The next change that somebody else made. */
const nextChange = (store: RedisStore) =>
  new Promise<TaskChange>((resolve) => {
    const stop = store.subscribe((change) => {
      stop();
      resolve(change);
    });
  });

describe("stores of two machines", () => {
  withRedis("see each other's tasks, and only those of their namespace", async () => {
    const { url } = await RedisServer.start();
    const [here, there, other] = [await open(url), await open(url), await open(url, "other")];
    expect(await there.list()).toEqual([]);
    const changed = nextChange(there);
    const task = await add(here);
    expect((await changed).state).toEqual(task);
    expect(await there.list()).toEqual([task]);
    expect(await other.list()).toEqual([]);
  });

  withRedis("agree after Redis was killed, and lose nothing that was answered", async () => {
    const redis = await RedisServer.start({ args: ["--appendfsync", "always"] });
    const [here, there] = [await open(redis.url), await open(redis.url)];
    const before = await add(here);
    expect(await there.list()).toEqual([before]);
    await redis.kill();
    const during = add(here);
    await redis.start();
    const tasks = [before, await during];
    expect(await there.list()).toEqual(tasks);
    expect(await here.list()).toEqual(tasks);
  });

  withRedis("notice that Redis has lost everything, and put back what they know", async () => {
    const { url } = await RedisServer.start();
    const [here, there] = [await open(url), await open(url)];
    const { id } = await add(here);
    const lease = await here.lease(id, "w1", 60_000);
    const [state, events] = [await here.read(id), await here.events(id)];
    await there.list();
    await here.connection.flushall();
    const other = await add(there);
    expect(await there.list()).toEqual([other]);
    if (state === undefined || lease === undefined) throw new Error("There was no lease");
    expect(await here.restore(state, events)).toBe("restored");
    expect(await here.restore(state, events)).toBe("present");
    expect((await there.list()).map((task) => task.id).sort()).toEqual([id, other.id].sort());
    expect(await there.events(id)).toEqual(events);
    // The worker may have gone on meanwhile, so its run counts as lost.
    expect(await here.renew(lease, 1000)).toBe(false);
    const [lost] = await there.sweep();
    expect(lost?.task).toBe(id);
    expect(lost?.fence).toBeGreaterThan(lease.fence);
  });

  withRedis("notice that Redis went back and then went on in another way", async () => {
    const { url } = await RedisServer.start();
    const [here, there] = [await open(url), await open(url)];
    const task = await add(here);
    const { id } = task;
    const events = await here.events(id);
    const asked = { type: "task/cancelled", data: { by: "alice" } } as const;
    await here.commit({ task: id, expect: 1, events: [asked] });
    expect(await there.read(id)).toMatchObject({ version: 2, phase: "cancelled" });
    await here.connection.flushall();
    await here.restore(task, events);
    // As many events as before, but others.
    const lease = await here.lease(id, "w1", 60_000);
    expect(lease).toBeDefined();
    expect(await there.read(id)).toMatchObject({ version: 2, phase: "running" });
    expect(await there.list()).toMatchObject([{ version: 2, phase: "running" }]);
  });

  withRedis("put back no task that somebody has removed", async () => {
    const { url } = await RedisServer.start();
    const [here, there] = [await open(url), await open(url)];
    const [task, other] = [await add(here), await add(here)];
    const events = await here.events(task.id);
    await there.remove(task.id);
    expect(await here.restore(task, events)).toBe("removed");
    expect(await here.list()).toEqual([other]);
    // Not everything is remembered for ever.
    const { keys, connection } = there;
    const many = Array.from({ length: 100_000 }, (_, index) => [index, `t${index}`]);
    for (let at = 0; at < many.length; at += 10_000)
      await connection.zadd(keys.removed, ...many.slice(at, at + 10_000).flat());
    await there.remove(other.id);
    expect(await connection.zcard(keys.removed)).toBe(100_000);
    expect(await connection.zscore(keys.removed, other.id)).not.toBeNull();
  });

  withRedis("have one scheduler at a time", async () => {
    const { url } = await RedisServer.start();
    const [here, there] = [await open(url), await open(url)];
    expect([await here.lead("a", 60_000), await there.lead("b", 60_000)]).toEqual([true, false]);
    expect(await here.lead("a", 1)).toBe(true);
    await here.connection.blpop("nothing", 0.01);
    expect(await there.lead("b", 60_000)).toBe(true);
  });
});

withRedis("a write that is sent again because its answer was lost is stored once", async () => {
  const { url } = await RedisServer.start();
  const store = await open(url);
  const { id } = await add(store);
  const lease = await store.lease(id, "w1", 60_000);
  const state = await store.read(id);
  if (state === undefined || lease === undefined) throw new Error("There is no lease");
  const { keys } = store;
  const [event] = startRound(state, context);
  const send = () =>
    new Script(COMMIT).run(
      store.connection,
      [keys.task(id), keys.log(id), keys.feed, keys.leases],
      [
        id,
        state.version,
        lease.id,
        lease.fence,
        "w",
        "running",
        lease.id,
        1,
        mintId(),
        JSON.stringify(event),
      ],
    );
  expect(await send()).toEqual(await send());
  expect(await store.events(id, state.version)).toHaveLength(1);
});

describe("a Redis that cannot keep tasks is refused", () => {
  const refusal = (url: string, version = "0.1.0") =>
    RedisStore.open({ url, namespace: "test", version }).then(
      async (store) => {
        await store.close();
        return "accepted";
      },
      (thrown: Error) => `${thrown.name}: ${thrown.message}`,
    );

  withRedis("because nothing listens there", async () => {
    expect(await refusal("redis://user:secret@127.0.0.1:1")).toBe(
      "RedisProblem: Redis at redis://127.0.0.1:1 cannot be reached: connect ECONNREFUSED 127.0.0.1:1",
    );
    expect(await refusal("http://localhost")).toContain("has to look like redis://");
  });

  withRedis("because it wants another password", async () => {
    const { url } = await RedisServer.start({ args: ["--requirepass", "right"] });
    expect(await refusal(url)).toContain("rejects the user or password");
  });

  withRedis("because it evicts", async () => {
    const args = ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"];
    const { url } = await RedisServer.start({ args });
    expect(await refusal(url)).toContain("its maxmemory-policy is allkeys-lru. Set it to noeviction");
  });

  withRedis("because it is a replica", async () => {
    const { url } = await RedisServer.start({ args: ["--replicaof", "127.0.0.1", "1"] });
    expect(await refusal(url)).toContain("is a read-only replica");
  });

  withRedis("because its tasks are of another format", async () => {
    const { url } = await RedisServer.start();
    const store = await open(url);
    await store.connection.set(store.keys.format, "2 0.9.0");
    expect(await refusal(url)).toContain(
      "have format 2, of Flint 0.9.0; this is Flint 0.1.0 with format 1. Use one version everywhere",
    );
  });
});
