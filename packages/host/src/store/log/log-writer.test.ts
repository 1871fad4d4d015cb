import { sampleStart, settled, temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { JsonlStore } from "../jsonl-store.ts";
import { type FaultPlan, faultyFiles } from "../testing/faulty-files.ts";
import { SyncGroup, type SyncTarget } from "./log-writer.ts";

/** A file whose sync the test completes. */
class SlowFile implements SyncTarget {
  readonly folders: readonly string[];
  started = 0;
  #end: (error?: Error) => void = () => {};

  constructor(...folders: string[]) {
    this.folders = folders;
  }

  async sync(folder: (path: string) => Promise<void>): Promise<void> {
    this.started += 1;
    await new Promise<void>((resolve, reject) => {
      this.#end = (error) => (error === undefined ? resolve() : reject(error));
    });
    for (const path of this.folders) await folder(path);
  }

  async end(error?: Error): Promise<void> {
    this.#end(error);
    await settled();
  }
}

function group(): { syncs: SyncGroup; folders: string[] } {
  const folders: string[] = [];
  const syncs = new SyncGroup(async (path) => void folders.push(path));
  return { syncs, folders };
}

describe("syncing together", () => {
  test("requests of one tick share one sync of a file", async () => {
    const { syncs } = group();
    const file = new SlowFile();
    const all = Promise.all([syncs.request(file), syncs.request(file), syncs.request(file)]);
    await settled();
    expect(file.started).toBe(1);
    await file.end();
    await all;
    expect(file.started).toBe(1);
  });

  test("a request during a round joins the next one, because newer data may not be in this one", async () => {
    const { syncs } = group();
    const file = new SlowFile();
    const first = syncs.request(file);
    await settled();
    let isSecondDone = false;
    const second = syncs.request(file).then(() => {
      isSecondDone = true;
    });
    const third = syncs.request(file);
    await file.end();
    await first;
    expect(file.started).toBe(2);
    expect(isSecondDone).toBe(false);
    await file.end();
    await Promise.all([second, third]);
    await settled();
    expect(file.started).toBe(2);
  });

  test("only a few files are synced at a time", async () => {
    const { syncs } = group();
    const files = Array.from({ length: 10 }, () => new SlowFile());
    const all = Promise.all(files.map((file) => syncs.request(file)));
    await settled();
    expect(files.filter((file) => file.started > 0)).toHaveLength(3);
    for (const file of files) await file.end();
    await all;
    expect(files.map((file) => file.started)).toEqual(files.map(() => 1));
  });

  test("a folder is synced once per round", async () => {
    const { syncs, folders } = group();
    const files = [new SlowFile("a", "all"), new SlowFile("b", "all")];
    const all = Promise.all(files.map((file) => syncs.request(file)));
    await settled();
    for (const file of files) await file.end();
    await all;
    expect(folders.toSorted()).toEqual(["a", "all", "b"]);
  });

  test("a failure rejects only the requests for that file", async () => {
    const { syncs } = group();
    const [bad, good] = [new SlowFile(), new SlowFile()];
    const failure = expect(syncs.request(bad)).rejects.toThrow("broken");
    const success = syncs.request(good);
    await settled();
    await bad.end(new Error("broken"));
    await good.end();
    await failure;
    await success;
  });
});

describe("what is synced to the disk", () => {
  async function calls(durability: "full" | "relaxed") {
    const plan: FaultPlan = { calls: [] };
    const { path } = await temporaryFolder();
    const store = new JsonlStore({ root: path, durability, files: faultyFiles(plan) });
    onTestFinished(() => store.close());
    const writer = await store.create("t1");
    writer.append([sampleStart("t1")], 1);
    return { plan, writer, count: (name: string) => plan.calls.filter((call) => call === name).length };
  }

  test("the log, and the first time its parent folders", async () => {
    const { writer, count } = await calls("full");
    await writer.sync();
    expect([count("fdatasync"), count("fsync")]).toEqual([1, 3]);
    await writer.sync();
    expect([count("fdatasync"), count("fsync")]).toEqual([1, 3]);
    writer.append([sampleStart("t1")], 2);
    await Promise.all([writer.sync(), writer.sync()]);
    expect([count("fdatasync"), count("fsync")]).toEqual([2, 3]);
  });

  test("the log before a checkpoint that covers it", async () => {
    const { plan, writer } = await calls("full");
    plan.calls.length = 0;
    const { emptyThread } = await import("@flint/protocol");
    writer.checkpoint({ ...emptyThread("t1"), seq: 1 });
    await writer.close();
    const order = plan.calls.filter((call) => ["fdatasync", "fsync", "rename"].includes(call));
    expect(order).toEqual(["fdatasync", "fsync", "fsync", "fsync", "fsync", "rename"]);
  });

  test("nothing with relaxed durability", async () => {
    const { writer, count } = await calls("relaxed");
    await writer.sync();
    await writer.close();
    expect([count("fdatasync"), count("fsync")]).toEqual([0, 0]);
  });
});
