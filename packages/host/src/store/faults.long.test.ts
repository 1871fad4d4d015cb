import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import type { ThreadWriter } from "@flint/core/ports";
import { type EventBody, FlintError, type StoredEvent } from "@flint/protocol";
import { listQuery, readAll, sampleStart, sampleTurn, temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { JsonlStore } from "./jsonl-store.ts";
import { type FaultPlan, faultyFiles } from "./testing/faulty-files.ts";

async function arrange(plan: FaultPlan, durability: "full" | "relaxed" = "full") {
  const folder = await temporaryFolder();
  const root = folder.join("store");
  const store = new JsonlStore({ root, durability, files: faultyFiles(plan) });
  onTestFinished(() => store.close());
  return { root, store };
}

const log = (root: string): string => readFileSync(`${root}/threads/t1/events.jsonl`, "utf8");

/** The result of a short session with a thread. */
interface Session {
  /** Events that were acknowledged. */
  readonly safe: StoredEvent[];
  readonly failures: unknown[];
}

async function runSession(store: JsonlStore): Promise<Session> {
  const session: Session = { safe: [], failures: [] };
  const attempt = async (work: () => Promise<void> | void): Promise<void> => {
    try {
      await work();
    } catch (error) {
      session.failures.push(error);
    }
  };
  const append = (writer: ThreadWriter, bodies: EventBody[]): Promise<void> =>
    attempt(() => void session.safe.push(...writer.append(bodies, 1)));
  await attempt(async () => {
    const writer = await store.create("t1");
    await append(writer, [sampleStart("t1")]);
    await append(writer, sampleTurn("t1", "a"));
    await attempt(() => writer.sync());
    await attempt(async () => writer.checkpoint((await store.peek("t1")).state));
    await attempt(() => writer.close());
  });
  await attempt(async () => {
    const { writer } = await store.open("t1");
    await append(writer, sampleTurn("t1", "b"));
    await attempt(() => writer.close());
  });
  await attempt(async () => void (await store.list(listQuery())));
  return session;
}

function expectReported({ failures }: Session, where: string): void {
  for (const failure of failures) expect(failure, where).toBeInstanceOf(FlintError);
}

describe("a file system that fails", () => {
  test.each(["ENOSPC", "EIO"])(
    "at any single call with %s reports it and loses nothing that was acknowledged",
    async (code) => {
      const rehearsal: FaultPlan = { calls: [] };
      const { store } = await arrange(rehearsal);
      expect((await runSession(store)).failures).toEqual([]);
      for (let failing = 1; failing <= rehearsal.calls.length; failing += 1) {
        await checkSingleFault(code, failing);
      }
    },
  );

  async function checkSingleFault(code: string, failing: number): Promise<void> {
    const plan: FaultPlan = { calls: [], fails: (_, count) => (count === failing ? code : undefined) };
    const { root, store } = await arrange(plan);
    const session = await runSession(store);
    const where = `call ${failing}, ${plan.calls[failing - 1]}`;
    expectReported(session, where);
    await store.close().catch((error: unknown) => expect(error, where).toBeInstanceOf(FlintError));
    const { safe } = session;
    const after = new JsonlStore({ root, durability: "relaxed" });
    const ids = (await after.list(listQuery())).data.map(({ id }) => id);
    expect(ids, where).toEqual(safe.length > 0 ? ["t1"] : ids);
    if (safe.length > 0) await expectWhole(after, root, safe);
    await after.close();
  }

  async function expectWhole(store: JsonlStore, root: string, safe: readonly StoredEvent[]): Promise<void> {
    const { writer, damage } = await store.open("t1");
    await writer.close();
    expect(damage.missing).toBe(0);
    expect(await readAll(store, "t1")).toEqual(safe);
    expect(readdirSync(`${root}/threads/t1`).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  }

  test("from any call on never ends the process and never damages stored records", async () => {
    const rehearsal: FaultPlan = { calls: [] };
    const { store } = await arrange(rehearsal);
    await runSession(store);
    for (let first = 1; first <= rehearsal.calls.length; first += 5) {
      const plan: FaultPlan = { calls: [], fails: (_, count) => (count >= first ? "EROFS" : undefined) };
      const broken = await arrange(plan);
      const session = await runSession(broken.store);
      expectReported(session, `from call ${first}`);
      const { safe } = session;
      delete plan.fails;
      if (safe.length > 0) expect(await readAll(broken.store, "t1")).toEqual(safe);
    }
  });
});

describe("a write that fails half-way", () => {
  const NAMED = (name: string) => ({ type: "thread/name/updated" as const, data: { threadId: "t1", name } });

  test("removes a failed append and reuses its sequence numbers", async () => {
    const plan: FaultPlan = { calls: [] };
    const { root, store } = await arrange(plan);
    const writer = await store.create("t1");
    const [first] = writer.append([NAMED("one")], 1);
    const before = log(root);
    for (const room of [0, 1, 40, 90, 120]) {
      plan.room = room;
      expect(() => writer.append([NAMED("lost"), NAMED("lost too")], 2)).toThrow(/disk is full/);
      expect(log(root)).toBe(before);
    }
    plan.room = Number.POSITIVE_INFINITY;
    const [second] = writer.append([NAMED("two")], 3);
    expect(second?.seq).toBe(2);
    expect(await readAll(store, "t1")).toEqual([first, second]);
  });

  test("hides nothing if it cannot be undone: the next record starts on a new line", async () => {
    const plan: FaultPlan = { calls: [] };
    const { root, store } = await arrange(plan);
    const writer = await store.create("t1");
    const [first] = writer.append([NAMED("one")], 1);
    const before = log(root);
    plan.fails = (call) => (call === "ftruncateSync" ? "EIO" : undefined);
    plan.room = 20;
    expect(() => writer.append([NAMED("lost")], 2)).toThrow(FlintError);
    plan.room = Number.POSITIVE_INFINITY;
    const [second] = writer.append([NAMED("two")], 3);
    const [third] = writer.append([NAMED("three")], 4);
    expect([second?.seq, third?.seq]).toEqual([2, 3]);
    expect(log(root).slice(before.length)).toMatch(
      /^\{"seq":2,"at":2,"typ\n\{"seq":2,.*\}\n\{"seq":3,.*\}\n$/,
    );
    expect(await readAll(store, "t1")).toEqual([first, second, third]);
    expect((await store.peek("t1")).damage).toEqual({ records: 1, missing: 0 });
    // A later failure must truncate only what it wrote itself.
    const intact = log(root);
    plan.fails = () => undefined;
    plan.room = 30;
    expect(() => writer.append([NAMED("lost")], 5)).toThrow(FlintError);
    expect(log(root)).toBe(intact);
  });

  test("rejects further writes if a complete record that was not acknowledged cannot be undone", async () => {
    const plan: FaultPlan = { calls: [] };
    const { store } = await arrange(plan);
    const writer = await store.create("t1");
    plan.fails = (call) => (call === "ftruncateSync" ? "EIO" : undefined);
    plan.room = 120;
    expect(() => writer.append([NAMED("lost"), NAMED("lost too")], 2)).toThrow(FlintError);
    plan.room = Number.POSITIVE_INFINITY;
    expect(() => writer.append([NAMED("two")], 3)).toThrow(/Open the thread again/);
    plan.fails = () => undefined;
    expect(writer.append([NAMED("two")], 3).map(({ seq }) => seq)).toEqual([1]);
    expect((await readAll(store, "t1")).map(({ data }) => data)).toEqual([NAMED("two").data]);
  });

  test("truncates nothing that another program has written", async () => {
    const plan: FaultPlan = { calls: [] };
    const { root, store } = await arrange(plan);
    const writer = await store.create("t1");
    writer.append([NAMED("one")], 1);
    appendFileSync(`${root}/threads/t1/events.jsonl`, "another program\n");
    writer.append([NAMED("two")], 2);
    const before = log(root);
    plan.room = 10;
    expect(() => writer.append([NAMED("lost")], 3)).toThrow(FlintError);
    expect(log(root).startsWith(before)).toBe(true);
    plan.room = Number.POSITIVE_INFINITY;
    writer.append([NAMED("three")], 4);
    expect((await readAll(store, "t1")).map(({ seq }) => seq)).toEqual([1, 2, 3]);
  });
});

describe("a disk that cannot sync", () => {
  test("is reported to every later caller, because what it lost is unknown", async () => {
    const plan: FaultPlan = { calls: [], fails: (call) => (call === "fdatasync" ? "EIO" : undefined) };
    const { store } = await arrange(plan);
    const writer = await store.create("t1");
    writer.append([sampleStart("t1")], 1);
    await expect(writer.sync()).rejects.toMatchObject({ kind: "storageFailed", data: { code: "EIO" } });
    delete plan.fails;
    await expect(writer.sync()).rejects.toMatchObject({ kind: "storageFailed" });
    expect(writer.append([sampleStart("t1")], 2)).toHaveLength(1);
  });

  test("because it is full is tried again", async () => {
    const plan: FaultPlan = { calls: [], fails: (call) => (call === "fdatasync" ? "ENOSPC" : undefined) };
    const { store } = await arrange(plan);
    const writer = await store.create("t1");
    await expect(writer.sync()).rejects.toMatchObject({ data: { code: "ENOSPC" } });
    delete plan.fails;
    await writer.sync();
  });
});

test.each(["openSync", "write", "fsync", "rename"])(
  "a checkpoint whose %s fails leaves the old one",
  async (failing) => {
    const plan: FaultPlan = { calls: [] };
    const { root, store } = await arrange(plan);
    const writer = await store.create("t1");
    writer.append([sampleStart("t1")], 1);
    writer.checkpoint((await store.peek("t1")).state);
    await writer.close();
    const meta = readFileSync(`${root}/threads/t1/meta.json`, "utf8");
    const again = await store.open("t1");
    again.writer.append(sampleTurn("t1", "a"), 2);
    const { state } = await store.peek("t1");
    plan.fails = (call) => (call === failing ? "EIO" : undefined);
    again.writer.checkpoint(state);
    await again.writer.close();
    expect(readFileSync(`${root}/threads/t1/meta.json`, "utf8")).toBe(meta);
    expect(readdirSync(`${root}/threads/t1`).toSorted()).toEqual(["events.jsonl", "lock", "meta.json"]);
    delete plan.fails;
    expect((await store.peek("t1")).state).toEqual(state);
  },
);
