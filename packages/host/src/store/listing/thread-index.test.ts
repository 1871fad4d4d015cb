import { mkdirSync, readFileSync, statSync } from "node:fs";
import { appendFile, mkdir, rm, writeFile } from "node:fs/promises";
import { emptyThread } from "@flint/protocol";
import { allListed, listQuery, type TemporaryFolder, temporaryFolder, WrittenThread } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { NODE_FILES } from "../file-system.ts";
import { JsonlStore } from "../jsonl-store.ts";
import { type FaultPlan, faultyFiles } from "../testing/faulty-files.ts";

interface Arranged {
  readonly folder: TemporaryFolder;
  /** Another store on the same folder, like that of another process. */
  another(plan?: FaultPlan): JsonlStore;
}

async function arrange(): Promise<Arranged> {
  const folder = await temporaryFolder();
  const another = (plan: FaultPlan = { calls: [] }): JsonlStore => {
    const store = new JsonlStore({ root: folder.path, durability: "relaxed", files: faultyFiles(plan) });
    onTestFinished(() => store.close());
    return store;
  };
  return { folder, another };
}

async function write(store: JsonlStore, ...ids: string[]): Promise<void> {
  for (const id of ids) await (await WrittenThread.create(store, { name: `name of ${id}` }, id)).close();
}

async function listed(store: JsonlStore): Promise<string[]> {
  return (await store.list(listQuery({ sortDirection: "asc" }))).data.map(({ id, name }) => `${id} ${name}`);
}

const LINES = (folder: TemporaryFolder): string[] =>
  readFileSync(folder.join("index.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "");

describe("the list of threads", () => {
  test("is rebuilt when its file is lost", async () => {
    const { folder, another } = await arrange();
    await write(another(), "a", "b");
    await rm(folder.join("index.jsonl"));
    expect(await listed(another())).toEqual(["a name of a", "b name of b"]);
    expect(LINES(folder)).toHaveLength(2);
  });

  test("is rebuilt when its file is lost while it is in use", async () => {
    const { folder, another } = await arrange();
    const store = another();
    await write(store, "a", "b");
    expect(await listed(store)).toHaveLength(2);
    await rm(folder.join("index.jsonl"));
    expect(await listed(store)).toEqual(["a name of a", "b name of b"]);
    await write(store, "c");
    expect(await listed(another())).toHaveLength(3);
  });

  test("finds a thread whose line is damaged, and one that never had a checkpoint", async () => {
    const { folder, another } = await arrange();
    const store = another();
    await write(store, "a", "b");
    const thread = await WrittenThread.create(store, { name: "name of c" }, "c");
    await thread.writer.close();
    await writeFile(
      folder.join("index.jsonl"),
      `${LINES(folder)[0]}\n{"id":"b","thr\n\0\0\n42\n{"id":"../x","deleted":true}\n`,
    );
    expect(await listed(another())).toEqual(["a name of a", "b name of b", "c name of c"]);
  });

  test("drops a thread whose folder was deleted", async () => {
    const { folder, another } = await arrange();
    await write(another(), "a", "b");
    await rm(folder.join("threads/a"), { recursive: true });
    expect(await listed(another())).toEqual(["b name of b"]);
  });

  test("does not list a log without events", async () => {
    const { folder, another } = await arrange();
    const store = another();
    await (await store.create("a")).close();
    await mkdir(folder.join("threads/b"));
    await writeFile(folder.join("threads/b/events.jsonl"), "");
    expect(await listed(another())).toEqual([]);
  });

  test("shows what other processes add, change and delete", async () => {
    const { another } = await arrange();
    const [store, other] = [another(), another()];
    await write(store, "a", "b");
    expect(await listed(store)).toHaveLength(2);
    expect(await listed(other)).toHaveLength(2);
    await write(other, "c");
    const { writer, state } = await other.open("a");
    writer.checkpoint({ ...state, thread: { ...state.thread, name: "renamed" } });
    await writer.close();
    await other.remove("b");
    expect(await listed(store)).toEqual(["a renamed", "c name of c"]);
  });

  test("reads only new lines", async () => {
    const { another } = await arrange();
    const plan: FaultPlan = { calls: [] };
    const store = another(plan);
    await write(store, "a", "b");
    await listed(store);
    plan.calls.length = 0;
    await listed(store);
    expect(plan.calls).toEqual(["lstatSync"]);
  });

  test("is compacted", async () => {
    const { folder, another } = await arrange();
    const [store, other] = [another(), another()];
    await write(store, "a", "b");
    expect(await listed(other)).toHaveLength(2);
    const noise = `${LINES(folder)[0]}\n`.repeat(3000);
    await appendFile(folder.join("index.jsonl"), noise);
    expect(await listed(store)).toHaveLength(2);
    await store.close();
    expect(LINES(folder)).toHaveLength(2);
    // A process with the old file open still writes to the new one.
    await write(other, "c");
    expect(await listed(other)).toEqual(["a name of a", "b name of b", "c name of c"]);
    expect(await listed(another())).toEqual(["a name of a", "b name of b", "c name of c"]);
    expect(statSync(folder.join("index.jsonl")).mode & 0o777).toBe(0o600);
  });

  test("loses no change that is made during compaction", async () => {
    const { folder, another } = await arrange();
    const plan: FaultPlan = { calls: [] };
    const [store, other] = [another(plan), another()];
    await write(store, "a", "b");
    await listed(store);
    await appendFile(folder.join("index.jsonl"), `${LINES(folder)[0]}\n`.repeat(3000));
    const { writer, state } = await other.open("a");
    // Right before the compacted file replaces the long one.
    plan.fails = (call) => {
      if (call === "rename") writer.checkpoint({ ...state, thread: { ...state.thread, name: "renamed" } });
      return undefined;
    };
    await listed(store);
    await store.close();
    await writer.close();
    expect(LINES(folder).length).toBeLessThan(10);
    expect(await listed(another())).toEqual(["a renamed", "b name of b"]);
  });

  test("is correct in memory while the disk is full, and on the disk afterwards", async () => {
    const { another } = await arrange();
    const plan: FaultPlan = { calls: [] };
    const store = another(plan);
    await write(store, "a");
    await listed(store);
    const { writer, state } = await store.open("a");
    writer.checkpoint({ ...state, thread: { ...state.thread, name: "renamed once" } });
    plan.room = 0;
    writer.checkpoint({ ...state, thread: { ...state.thread, name: "renamed" } });
    expect(await listed(store)).toEqual(["a renamed"]);
    plan.room = Number.POSITIVE_INFINITY;
    await write(store, "b");
    expect(await listed(another())).toEqual(["a renamed", "b name of b"]);
    await writer.close();
  });
});

describe("many threads", () => {
  const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => `thread-${index}`);

  async function writeIndex(folder: TemporaryFolder, count: number): Promise<void> {
    const lines = ids(count).map((id, index) => {
      const times = { createdAt: index, updatedAt: count - index };
      const thread = { ...emptyThread(id).thread, ...times, preview: `about ${index}` };
      return JSON.stringify({ id, thread, createdAtMs: index * 1000, updatedAtMs: (count - index) * 1000 });
    });
    await writeFile(folder.join("index.jsonl"), `${lines.join("\n")}\n`);
  }

  test("lists a thousand threads at once and pages through them, each once [P08]", async () => {
    const { folder, another } = await arrange();
    for (const id of ids(1000)) mkdirSync(folder.join("threads", id), { recursive: true });
    await writeIndex(folder, 1000);
    const store = another();
    const begin = performance.now();
    await store.list(listQuery({ limit: 25 }));
    expect(performance.now() - begin).toBeLessThan(300);
    for (const sortKey of ["createdAt", "updatedAt"] as const) {
      const found = (await allListed(store, listQuery({ limit: 37, sortKey }))).map(({ id }) => id);
      expect(found).toHaveLength(1000);
      expect(new Set(found)).toEqual(new Set(ids(1000)));
    }
  });

  test("returns the first page of ten thousand within five milliseconds, also after a change", async () => {
    const { folder } = await arrange();
    await writeIndex(folder, 10_000);
    // Ten thousand real folders would only cost time here: only their names are read.
    const folders = ids(10_000).map((name) => ({ name, isDirectory: () => true }));
    const files = { ...NODE_FILES, readdir: async () => folders };
    const store = new JsonlStore({ root: folder.path, durability: "relaxed", files });
    onTestFinished(() => store.close());
    await store.list(listQuery());
    const thread = await WrittenThread.create(store, {}, "new");
    const times: number[] = [];
    for (let index = 0; index < 20; index += 1) {
      thread.turn(`turn-${index}`);
      thread.checkpoint();
      const begin = performance.now();
      const { data } = await store.list(listQuery({ limit: 25, sortKey: "updatedAt" }));
      times.push(performance.now() - begin);
      expect(data[0]?.id).toBe("new");
    }
    expect(Math.min(...times)).toBeLessThan(5);
    await thread.close();
  });
});
