import { appendFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { needs, RedisServer, type TestRegistrar, temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { afterLost, startRound } from "../decide/run.ts";
import { SmallDisk } from "../testing/small-disk.ts";
import { testSpec } from "../testing/spec.ts";
import { context } from "../testing/task.ts";
import { JournalStore } from "./journal-store.ts";
import { MemoryStore } from "./memory-store.ts";
import { RedisStore } from "./redis/redis-store.ts";
import type { LostRun, TaskStore } from "./task-store.ts";

class Clock {
  time = 1_800_000_000_000;
  readonly now = () => this.time;
}

/** A store, and how the time passes by which its leases end. */
type Fixture = { readonly store: TaskStore; readonly pass: (milliseconds: number) => Promise<unknown> };
type Open = () => Promise<Fixture>;

const passIn = (clock: Clock) => async (milliseconds: number) => {
  clock.time += milliseconds;
};

const STORES: readonly (readonly [string, TestRegistrar, Open])[] = [
  [
    "in memory",
    test,
    async () => {
      const clock = new Clock();
      return { store: new MemoryStore({ now: clock.now }), pass: passIn(clock) };
    },
  ],
  [
    "in a journal",
    test,
    async () => {
      const clock = new Clock();
      const path = (await temporaryFolder()).join("tasks/journal.jsonl");
      const store = await JournalStore.open({ path, now: clock.now, elapsed: clock.now });
      return { store, pass: passIn(clock) };
    },
  ],
  [
    "in Redis",
    needs("redis"),
    async () => {
      const { url } = await RedisServer.start();
      const store = await RedisStore.open({ url, namespace: "test", version: "0" });
      onTestFinished(() => store.close());
      // Redis has a clock of its own, which passes by waiting for what never comes.
      return { store, pass: (milliseconds) => store.connection.blpop("nothing", milliseconds / 1000) };
    },
  ],
];

const add = (store: TaskStore, key?: string) =>
  store.add({ spec: testSpec(), by: "alice", waiting: false, key });

describe.each(STORES)("a store %s", (_name, test, open) => {
  test("numbers tasks and adds one with a known key only once", async () => {
    const { store } = await open();
    const first = await add(store, "k");
    expect(first.number).toBe(1);
    expect(await add(store, "k")).toEqual(first);
    expect((await add(store)).number).toBe(2);
    expect((await store.list()).map(({ number }) => number)).toEqual([1, 2]);
  });

  test("adds tasks together that come after each other, in their order, under ids that were known before", async () => {
    const { store } = await open();
    const ids = ["first", "second", "third"];
    const adding = ids.map((id, index) =>
      store.add({ id, spec: testSpec({ after: ids.slice(0, index) }), by: "alice", waiting: index > 0 }),
    );
    expect((await Promise.all(adding)).map(({ id }) => id)).toEqual(ids);
    expect((await store.list()).map(({ id, number }) => [id, number])).toEqual(
      ids.map((id, index) => [id, index + 1]),
    );
  });

  test("takes no decision that rests on an old state", async () => {
    const { store } = await open();
    const { id, version } = await add(store);
    const released = [{ type: "task/released", data: {} }] as const;
    expect(await store.commit({ task: id, expect: version, events: released })).toMatchObject({
      status: "ok",
    });
    expect(await store.commit({ task: id, expect: version, events: released })).toMatchObject({
      status: "stale",
      state: { version: version + 1 },
    });
    expect(await store.commit({ task: "none", expect: 1, events: released })).toEqual({ status: "unknown" });
  });

  test("leases a ready task to one worker at a time, under a fence that rises", async () => {
    const { store, pass } = await open();
    const { id } = await add(store);
    const leases = await Promise.all([store.lease(id, "w1", 1000), store.lease(id, "w2", 1000)]);
    const [first] = leases.filter((lease) => lease !== undefined);
    expect(leases.filter((lease) => lease === undefined)).toHaveLength(1);
    await pass(1001);
    const [lost] = await store.sweep();
    expect(lost?.fence).toBeGreaterThan(first?.fence ?? 0);
    const state = await store.read(id);
    if (state === undefined || lost === undefined) throw new Error("The run was not lost");
    await store.commit({ task: id, expect: state.version, events: afterLost(state, lost.fence, context) });
    const next = await store.lease(id, "w2", 1000);
    expect(next?.fence).toBeGreaterThan(lost.fence);
  });

  test("rejects writes with an expired lease, even before the sweep", async () => {
    const { store, pass } = await open();
    const { id } = await add(store);
    const lease = await store.lease(id, "w1", 1000);
    const state = await store.read(id);
    if (lease === undefined || state === undefined) throw new Error("There is no lease");
    const write = { task: id, expect: state.version, lease, events: startRound(state, context) };
    expect(await store.renew(lease, 1000)).toBe(true);
    await pass(1001);
    expect(await store.commit(write)).toEqual({ status: "fenced" });
    expect(await store.renew(lease, 1000)).toBe(false);
    await store.sweep();
    expect(await store.commit(write)).toEqual({ status: "fenced" });
  });

  test("has a lease in force before it notifies anyone of it", async () => {
    const { store } = await open();
    const { id } = await add(store);
    const lost: Promise<readonly LostRun[]>[] = [];
    store.subscribe(() => void lost.push(store.sweep()));
    const lease = await store.lease(id, "w1", 60_000);
    expect(lost).not.toEqual([]);
    expect((await Promise.all(lost)).flat()).toEqual([]);
    expect(lease !== undefined && (await store.renew(lease, 60_000))).toBe(true);
  });

  test("sends every change, in order, until the listener leaves", async () => {
    const { store } = await open();
    const seen: string[] = [];
    const stop = store.subscribe(({ events }) => seen.push(...events.map(({ type }) => type)));
    const { id } = await add(store);
    await store.lease(id, "w1", 1000);
    stop();
    await add(store);
    expect(seen).toEqual(["task/added", "run/leased"]);
  });

  test("forgets a removed task", async () => {
    const { store } = await open();
    const { id } = await add(store, "k");
    expect([await store.remove(id), await store.remove(id)]).toEqual([true, false]);
    expect(await store.list()).toEqual([]);
    expect((await add(store, "k")).number).toBe(2);
  });
});

describe("a journal", () => {
  test("restores all tasks after a restart and treats its old leases as lost", async () => {
    const path = (await temporaryFolder()).join("journal.jsonl");
    const clock = new Clock();
    const before = await JournalStore.open({ path, now: clock.now });
    const { id } = await add(before, "k");
    const other = await add(before);
    await before.remove(other.id);
    await before.lease(id, "w1", 60_000);
    await before.close();
    const after = await JournalStore.open({ path, now: clock.now });
    expect(await after.list()).toEqual(await before.list());
    expect(await after.events(id)).toEqual(await before.events(id));
    expect(await after.sweep()).toMatchObject([{ task: id }]);
    expect((await add(after, "k")).id).toBe(id);
  });

  test("keeps leases by a clock of its own when the time of day is set", async () => {
    const clock = new Clock();
    const path = (await temporaryFolder()).join("journal.jsonl");
    const store = await JournalStore.open({ path, now: clock.now });
    const lease = await store.lease((await add(store)).id, "w1", 60_000);
    if (lease === undefined) throw new Error("The task could not be leased");
    for (const hours of [2, -4]) {
      clock.time += hours * 3_600_000;
      expect([await store.sweep(), await store.renew(lease, 60_000)]).toEqual([[], true]);
    }
    await store.renew(lease, 0);
    expect(await store.sweep()).toHaveLength(1);
    await store.close();
  });

  test("cut at any byte loses at most its last line and can be written again", async () => {
    const path = (await temporaryFolder()).join("journal.jsonl");
    const clock = new Clock();
    const whole = await JournalStore.open({ path, now: clock.now, durable: false });
    const { id } = await add(whole);
    await whole.lease(id, "w1", 1000);
    await whole.close();
    const content = readFileSync(path);
    const firstLine = content.indexOf(10) + 1;
    for (let size = firstLine; size < content.length; size += 7) {
      writeFileSync(path, content.subarray(0, size));
      const store = await JournalStore.open({ path, now: clock.now, durable: false });
      expect((await store.list()).map((task) => task.id)).toEqual([id]);
      await add(store);
      await store.close();
      const again = await JournalStore.open({ path, now: clock.now, durable: false });
      expect(await again.list()).toHaveLength(2);
      await again.close();
    }
  });

  test("has exactly what was acknowledged after the disk was full at any byte", async () => {
    const path = (await temporaryFolder()).join("journal.jsonl");
    const disk = new SmallDisk();
    const store = await JournalStore.open({ path, now: Date.now, files: disk.files });
    const acknowledged = [(await add(store)).id];
    const { size } = statSync(path);
    for (let room = 0; room < size; room += 50) {
      disk.room = room;
      await expect(add(store)).rejects.toThrow("the disk is full");
      // The rest of what did not fit was cut off again.
      disk.room = Math.min(room, 9);
      await expect(store.remove(acknowledged[0] ?? "")).rejects.toThrow("the disk is full");
      disk.room = Number.POSITIVE_INFINITY;
      acknowledged.push((await add(store)).id);
    }
    const problems: string[] = [];
    const again = await JournalStore.open({ path, now: Date.now, onDamage: (each) => problems.push(each) });
    expect((await again.list()).map(({ id }) => id)).toEqual(acknowledged);
    expect(await again.list()).toEqual(await store.list());
    expect(problems).toEqual([]);
  });

  test("is rewritten without the tasks that were removed, whose numbers are not given again", async () => {
    const path = (await temporaryFolder()).join("journal.jsonl");
    const open = () => JournalStore.open({ path, now: Date.now, compactFrom: 20 });
    const before = await open();
    for (let index = 0; index < 50; index += 1) await before.remove((await add(before)).id);
    const { id } = await add(before, "k");
    await before.lease(id, "w1", 60_000);
    const { id: last } = await add(before);
    await before.remove(last);
    expect(readFileSync(path, "utf8").split("\n").length).toBeLessThan(45);
    await before.close();
    const after = await open();
    expect(await after.list()).toEqual(await before.list());
    expect(await after.events(id)).toEqual(await before.events(id));
    expect((await add(after, "k")).id).toBe(id);
    expect((await add(after)).number).toBe(53);
    await after.close();
  });

  test("is not rewritten while it has lines that cannot be read", async () => {
    const path = (await temporaryFolder()).join("journal.jsonl");
    writeFileSync(path, "damaged\n");
    const store = await JournalStore.open({ path, now: Date.now, compactFrom: 2 });
    for (let index = 0; index < 5; index += 1) await store.remove((await add(store)).id);
    expect(readFileSync(path, "utf8").split("\n")).toHaveLength(12);
    await store.close();
  });

  test("reports damaged lines and keeps the rest", async () => {
    const path = (await temporaryFolder()).join("journal.jsonl");
    const clock = new Clock();
    const store = await JournalStore.open({ path, now: clock.now });
    await add(store);
    await store.close();
    appendFileSync(path, 'not json\n{"task":"x","type":"task/added","version":1,"at":1,"data":{}}\n');
    const problems: string[] = [];
    const again = await JournalStore.open({
      path,
      now: clock.now,
      onDamage: (problem) => problems.push(problem),
    });
    expect(problems).toEqual([expect.stringContaining("Line 2"), expect.stringContaining("Line 3")]);
    expect(await again.list()).toHaveLength(1);
  });

  test("answers only when the disk has it, and lets many writers share a sync", async () => {
    const path = (await temporaryFolder()).join("journal.jsonl");
    const store = await JournalStore.open({ path, now: Date.now });
    await Promise.all(Array.from({ length: 1000 }, () => add(store)));
    expect(readFileSync(path, "utf8").trimEnd().split("\n")).toHaveLength(1000);
    await store.close();
  });
});
