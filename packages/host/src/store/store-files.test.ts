import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeSync,
} from "node:fs";
import { chmod, mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  kindOfFailure,
  listQuery,
  readAll,
  type TemporaryFolder,
  temporaryFolder,
  WrittenThread,
} from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { NODE_FILES, OPEN, openRegular } from "./file-system.ts";
import { JsonlStore } from "./jsonl-store.ts";

async function arrange(): Promise<{
  folder: TemporaryFolder;
  store: JsonlStore;
  reopen(): Promise<JsonlStore>;
}> {
  const folder = await temporaryFolder();
  const options = { root: folder.join("state"), durability: "relaxed" } as const;
  let store = new JsonlStore(options);
  onTestFinished(() => store.close());
  const reopen = async (): Promise<JsonlStore> => {
    await store.close();
    store = new JsonlStore(options);
    return store;
  };
  return { folder, store, reopen };
}

/** The mode of everything below a path, and of the path itself. */
function modesBelow(path: string): Map<string, string> {
  const stats = lstatSync(path);
  const modes = new Map([[path, (stats.mode & 0o777).toString(8)]]);
  if (!stats.isDirectory()) return modes;
  for (const name of readdirSync(path)) for (const entry of modesBelow(join(path, name))) modes.set(...entry);
  return modes;
}

function expectPrivate(path: string): void {
  for (const [name, mode] of modesBelow(path)) {
    expect(`${name} ${mode}`).toBe(`${name} ${lstatSync(name).isDirectory() ? "700" : "600"}`);
  }
}

describe("what is on the disk", () => {
  test("events.jsonl has a header and one line for each event, and only ever grows [S1-29] [S4-51]", async () => {
    const { folder, store } = await arrange();
    const thread = await WrittenThread.create(store, {}, "t1");
    const path = folder.join("state/threads/t1/events.jsonl");
    let before = readFileSync(path);
    for (const turnId of ["a", "b"]) {
      thread.turn(turnId);
      thread.checkpoint();
      const after = readFileSync(path);
      expect(after.subarray(0, before.length).equals(before)).toBe(true);
      before = after;
    }
    await thread.close();
    const [header, ...records] = readFileSync(path, "utf8").trimEnd().split("\n");
    const { epoch } = thread.writer;
    const createdAtMs: unknown = expect.any(Number);
    expect(JSON.parse(header ?? "")).toEqual({
      flint: "thread-log",
      version: 1,
      epoch,
      threadId: "t1",
      createdAtMs,
    });
    expect(records).toEqual(
      thread.events.map(({ seq, at, type, data }) => JSON.stringify({ seq, at, type, data })),
    );
  });

  test("meta.json has the state of the thread [S1-30]", async () => {
    const { folder, store } = await arrange();
    const thread = await WrittenThread.create(store, { model: "a/b" }, "t1");
    thread.turn("a");
    await thread.close();
    const meta: unknown = JSON.parse(await readFile(folder.join("state/threads/t1/meta.json"), "utf8"));
    expect(meta).toMatchObject({
      version: 2,
      threadId: "t1",
      epoch: thread.writer.epoch,
      seq: thread.events.length,
      offset: statSync(folder.join("state/threads/t1/events.jsonl")).size,
      state: { thread: { id: "t1", model: "a/b" }, turns: [{ id: "a", items: [], itemsView: "notLoaded" }] },
    });
  });

  test("everything is private to its owner, whatever the umask is [P30]", async () => {
    for (const mask of [0o022, 0o000, 0o277]) {
      const { folder, store } = await arrange();
      const before = process.umask(mask);
      try {
        const thread = await WrittenThread.create(store, {}, "t1");
        thread.turn("a");
        thread.checkpoint();
        await store.list(listQuery());
        await thread.close();
      } finally {
        process.umask(before);
      }
      expectPrivate(folder.join("state"));
    }
  });

  test("files that others can access are made private when they are used [P30]", async () => {
    const { folder, store, reopen } = await arrange();
    await (await WrittenThread.create(store, {}, "t1")).close();
    for (const name of modesBelow(folder.join("state")).keys()) await chmod(name, 0o777);
    const again = await reopen();
    await again.list(listQuery());
    await (await again.open("t1")).writer.close();
    expectPrivate(folder.join("state"));
  });

  test("temporary files that a crash left are deleted by the next opening [P22]", async () => {
    const { folder, store } = await arrange();
    await (await WrittenThread.create(store, {}, "t1")).close();
    await writeFile(folder.join("state/threads/t1/meta.json.0123.tmp"), "{");
    await writeFile(folder.join("state/threads/t1/lock.4567.tmp"), "");
    await (await store.open("t1")).writer.close();
    expect(readdirSync(folder.join("state/threads/t1")).toSorted()).toEqual([
      "events.jsonl",
      "lock",
      "meta.json",
    ]);
  });

  test("an interrupted removal of a thread is completed", async () => {
    const { folder, store, reopen } = await arrange();
    await (await WrittenThread.create(store, {}, "t1")).close();
    await rename(folder.join("state/threads/t1"), folder.join("state/threads/.removed-t1-00"));
    expect((await (await reopen()).list(listQuery())).data).toEqual([]);
    expect(readdirSync(folder.join("state/threads"))).toEqual([]);
  });

  test("an invalid id touches no file [P27]", async () => {
    const { folder, store } = await arrange();
    await writeFile(folder.join("precious"), "x");
    for (const id of ["../precious", "..", ".", folder.join("precious"), "a/../../precious"]) {
      expect(await kindOfFailure(store.create(id))).toBe("invalidParams");
      expect(await kindOfFailure(store.remove(id))).toBe("invalidParams");
    }
    expect(readdirSync(folder.path)).toEqual(["precious"]);
  });
});

describe("links inside the store", () => {
  test("a thread folder that is a link is not opened, removed or listed", async () => {
    const { folder, store, reopen } = await arrange();
    await (await WrittenThread.create(store, {}, "t1")).close();
    await rename(folder.join("state/threads/t1"), folder.join("elsewhere"));
    await symlink(folder.join("elsewhere"), folder.join("state/threads/t1"));
    const before = modesBelow(folder.join("elsewhere"));
    const uses = [
      () => store.open("t1"),
      () => store.peek("t1"),
      () => store.remove("t1"),
      () => store.create("t1"),
    ];
    for (const use of uses) {
      await expect(use()).rejects.toMatchObject({
        kind: "storageFailed",
        message: expect.stringContaining("link"),
      });
    }
    expect((await (await reopen()).list(listQuery())).data).toEqual([]);
    expect(modesBelow(folder.join("elsewhere"))).toEqual(before);
  });

  test.each(["events.jsonl", "lock", "meta.json"])("%s that is a pipe does not block", async (name) => {
    const { folder, store, reopen } = await arrange();
    const thread = await WrittenThread.create(store, {}, "t1");
    thread.turn("a");
    await thread.close();
    await (await WrittenThread.create(store, {}, "t2")).close();
    const path = folder.join("state/threads/t1", name);
    await rm(path);
    execFileSync("mkfifo", [path]);
    await rm(folder.join("state/threads/index.jsonl"), { force: true });
    const again = await reopen();
    const listed = (await again.list(listQuery())).data.map(({ id }) => id);
    expect(listed).toContain("t2");
    if (name === "meta.json") await (await again.open("t1")).writer.close();
    else expect(await kindOfFailure(again.open("t1"))).toBe("storageFailed");
  });

  test("a pipe is not read, even if something writes to it", async () => {
    const pipe = (await temporaryFolder()).join("pipe");
    execFileSync("mkfifo", [pipe]);
    // Opened for both directions, a pipe waits for nothing.
    const writer = openSync(pipe, "r+");
    onTestFinished(() => closeSync(writer));
    writeSync(writer, "{}\n");
    expect(() => openRegular(NODE_FILES, pipe, OPEN.read)).toThrow("is not a regular file");
  });

  test.each(["events.jsonl", "lock", "meta.json"])("%s that is a link is not followed", async (name) => {
    const { folder, store } = await arrange();
    const thread = await WrittenThread.create(store, {}, "t1");
    thread.turn("a");
    await thread.close();
    const path = folder.join("state/threads/t1", name);
    await writeFile(folder.join("target"), "untouched", { mode: 0o644 });
    await rm(path);
    await symlink(folder.join("target"), path);
    if (name === "meta.json") {
      const { state, writer } = await store.open("t1");
      expect(state).toEqual(thread.state);
      writer.checkpoint(state);
      await writer.close();
      expect(lstatSync(path).isSymbolicLink()).toBe(false);
    } else {
      await expect(store.open("t1")).rejects.toMatchObject({
        kind: "storageFailed",
        data: { code: "ELOOP" },
      });
    }
    expect(readFileSync(folder.join("target"), "utf8")).toBe("untouched");
    expect(statSync(folder.join("target")).mode & 0o777).toBe(0o644);
  });
});

describe("a checkpoint", () => {
  async function written() {
    const arranged = await arrange();
    const thread = await WrittenThread.create(arranged.store, {}, "t1");
    thread.turn("a");
    thread.checkpoint();
    thread.turn("b");
    await thread.writer.close();
    const path = (name: string): string => arranged.folder.join("state/threads/t1", name);
    return { ...arranged, thread, path };
  }

  test("is used, so that records before it are not read again", async () => {
    const { store, thread, path } = await written();
    const bytes = readFileSync(path("events.jsonl"), "utf8");
    const lines = bytes.split("\n");
    lines[1] = "x".repeat(lines[1]?.length ?? 0);
    await writeFile(path("events.jsonl"), lines.join("\n"));
    const { state, damage } = await store.peek("t1");
    expect(damage).toEqual({ records: 0, missing: 0 });
    expect(state).toEqual(thread.state);
  });

  test.each<[string, (text: string) => string]>([
    ["is missing", () => ""],
    ["is empty", () => "\n"],
    ["is not JSON", (text) => text.slice(0, 100)],
    ["is of another version", (text) => text.replace('"version":2', '"version":1')],
    ["is of another thread", (text) => text.replace('"threadId":"t1"', '"threadId":"t2"')],
    ["is of another log", (text) => text.replace('"epoch":"', '"epoch":"x')],
    ["covers more than the log", (text) => text.replace(/"offset":(\d)/, '"offset":9$1')],
    ["ends within a line", (text) => text.replace(/"offset":\d+/, '"offset":400')],
    ["is ahead of the log", (text) => text.replace(/"seq":\d+,"offset"/, '"seq":500,"offset"')],
    ["has no state", (text) => text.replace('"state"', '"stale"')],
    [
      "has invalid settings",
      (text) => text.replace('"approvalPolicy":"always"', '"approvalPolicy":"alwoys"'),
    ],
  ])("that %s is not used", async (_, change) => {
    const { store, thread, path } = await written();
    const text = readFileSync(path("meta.json"), "utf8");
    const changed = change(text);
    expect(changed).not.toBe(text);
    await rm(path("meta.json"));
    if (changed !== "") await writeFile(path("meta.json"), changed);
    const { epoch, state, damage } = await store.peek("t1");
    expect({ epoch, state, damage }).toEqual({
      epoch: thread.writer.epoch,
      state: thread.state,
      damage: { records: 0, missing: 0 },
    });
  });

  test("restores what a log with a damaged start has lost", async () => {
    const { store, thread, path } = await written();
    const lines = readFileSync(path("events.jsonl"), "utf8").split("\n");
    await writeFile(path("events.jsonl"), ["torn", "torn", ...lines.slice(2)].join("\n"));
    const { epoch, state, damage } = await store.peek("t1");
    expect(epoch).toBe(thread.writer.epoch);
    expect(state).toEqual(thread.state);
    expect(damage).toEqual({ records: 2, missing: 0 });
  });

  test("remembers the damage that was found before it", async () => {
    const { store, path } = await written();
    await rm(path("meta.json"));
    const lines = readFileSync(path("events.jsonl"), "utf8").split("\n");
    await writeFile(path("events.jsonl"), lines.toSpliced(5, 1, "torn").join("\n"));
    const first = await store.open("t1");
    first.writer.checkpoint(first.state);
    await first.writer.close();
    expect(existsSync(path("meta.json"))).toBe(true);
    const { damage, state } = await store.peek("t1");
    expect(damage).toEqual({ records: 1, missing: 0 });
    expect(state).toEqual(first.state);
  });

  test("of a state that is not the newest loses nothing", async () => {
    const { store } = await arrange();
    const thread = await WrittenThread.create(store, {}, "t1");
    thread.checkpoint();
    thread.turn("a");
    const early = thread.state;
    thread.turn("b");
    thread.writer.checkpoint(early);
    await thread.writer.close();
    expect((await store.peek("t1")).state).toEqual(thread.state);
  });
});

describe("other versions", () => {
  test("a log of a later format is rejected with both versions in the message, and is still listed", async () => {
    const { folder, store, reopen } = await arrange();
    await (await WrittenThread.create(store, {}, "t1")).close();
    const path = folder.join("state/threads/t1/events.jsonl");
    await writeFile(path, readFileSync(path, "utf8").replace('"version":1', '"version":2'));
    for (const use of [() => store.open("t1"), () => store.peek("t1"), () => readAll(store, "t1")]) {
      await expect(use()).rejects.toMatchObject({
        kind: "storageFailed",
        message: expect.stringMatching(/format 2.*format 1/),
        data: { version: 2, supported: 1 },
      });
    }
    await rm(folder.join("state/index.jsonl"));
    expect((await (await reopen()).list(listQuery())).data.map(({ id }) => id)).toEqual(["t1"]);
  });

  test("events of a later version are ignored and do not count as damage", async () => {
    const { folder, store } = await arrange();
    const thread = await WrittenThread.create(store, {}, "t1");
    await thread.writer.close();
    const path = folder.join("state/threads/t1/events.jsonl");
    await writeFile(path, '{"seq":2,"at":1,"type":"thread/dreamt","data":{"threadId":"t1"}}\n', {
      flag: "a",
    });
    const { damage, writer } = await store.open("t1");
    expect(damage).toEqual({ records: 0, missing: 0 });
    const [added] = writer.append([{ type: "thread/archived", data: { threadId: "t1" } }], 5);
    expect(added?.seq).toBe(3);
    await writer.close();
    expect(await readAll(store, "t1")).toEqual([...thread.events, added]);
  });
});

describe("unusual content", () => {
  test("lone surrogates are neither stored nor sent", async () => {
    const { store } = await arrange();
    const thread = await WrittenThread.create(store, {}, "t1");
    thread.append([{ type: "thread/name/updated", data: { threadId: "t1", name: "a\ud83db \\ud800 🙂" } }]);
    await thread.close();
    expect(thread.state.thread.name).toBe("a\ufffdb \\ud800 🙂");
    expect(await readAll(store, "t1")).toEqual(thread.events);
  });

  test("a folder without a log is not a thread, and its id can be used", async () => {
    const { folder, store } = await arrange();
    await mkdir(folder.join("state/threads/t1"), { recursive: true });
    expect(await kindOfFailure(store.open("t1"))).toBe("threadNotFound");
    expect((await store.list(listQuery())).data).toEqual([]);
    const thread = await WrittenThread.create(store, {}, "t1");
    await thread.close();
    expect(await readAll(store, "t1")).toEqual(thread.events);
  });

  test("a thread that was copied or renamed has the id of its folder", async () => {
    const { folder, store, reopen } = await arrange();
    await (await WrittenThread.create(store, {}, "t1")).close();
    await rename(folder.join("state/threads/t1"), folder.join("state/threads/t2"));
    const again = await reopen();
    expect((await again.peek("t2")).state.thread.id).toBe("t2");
    expect((await again.list(listQuery())).data.map(({ id }) => id)).toEqual(["t2"]);
  });
});
