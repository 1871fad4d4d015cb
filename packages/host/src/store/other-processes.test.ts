import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import {
  leavesNoProcess,
  listQuery,
  readAll,
  type TemporaryFolder,
  temporaryFolder,
  WrittenThread,
} from "@flint/testkit";
import { build } from "rolldown";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { JsonlStore } from "./jsonl-store.ts";

const CHILD = fileURLToPath(new URL("./testing/store-child.ts", import.meta.url));

let program: TemporaryFolder;

beforeAll(async () => {
  program = await temporaryFolder();
  await build({
    input: CHILD,
    platform: "node",
    resolve: { conditionNames: ["@flint/source", "import", "node", "default"] },
    output: { file: program.join("child.mjs"), format: "esm", codeSplitting: false },
    logLevel: "silent",
  });
});

afterAll(() => program.remove());

/** A process that uses a store and prints what it did. */
class StoreProcess {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(command: "hold" | "leave" | "write", root: string, threadId: string) {
    const child = spawn(process.execPath, [program.join("child.mjs"), command, root, threadId], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#process = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    onTestFinished(async () => {
      await this.kill();
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  async nextLine(): Promise<string | undefined> {
    const { value, done } = await this.#lines.next();
    return done === true ? undefined : value;
  }

  signal(name: NodeJS.Signals): void {
    this.#process.kill(name);
  }

  /** Kills it, and returns the lines that were not read yet. */
  async kill(): Promise<string[]> {
    const isOver = this.#process.exitCode !== null || this.#process.signalCode !== null;
    const exit = isOver ? undefined : once(this.#process, "exit");
    this.signal("SIGKILL");
    await exit;
    const rest: string[] = [];
    for (let line = await this.nextLine(); line !== undefined; line = await this.nextLine()) rest.push(line);
    return rest;
  }
}

async function arrange() {
  leavesNoProcess();
  const folder = await temporaryFolder();
  const store = new JsonlStore({ root: folder.path, durability: "relaxed" });
  onTestFinished(() => store.close());
  const thread = await WrittenThread.create(store, {}, "t1");
  await thread.close();
  return { folder, store, thread };
}

describe("a thread that another process has open", () => {
  test("is rejected at once with the id of that process, and can still be read [P21]", async () => {
    const { folder, store, thread } = await arrange();
    const other = new StoreProcess("hold", folder.path, "t1");
    expect(await other.nextLine()).toBe("open");
    const { pid } = other;
    await expect(store.open("t1")).rejects.toMatchObject({
      kind: "threadLocked",
      message: `Thread t1 is in use by process ${pid}; stop it, or use the server that has it open.`,
      data: { threadId: "t1", pid },
    });
    expect(await readAll(store, "t1")).toEqual(thread.events);
    expect((await store.peek("t1")).state).toEqual(thread.state);
  });

  test("is rejected within a second although that process is suspended [P21]", async () => {
    const { folder, store } = await arrange();
    const other = new StoreProcess("hold", folder.path, "t1");
    await other.nextLine();
    other.signal("SIGSTOP");
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const begin = performance.now();
      await expect(store.open("t1")).rejects.toMatchObject({
        kind: "threadLocked",
        message: expect.stringContaining(`process ${other.pid}`),
      });
      expect(performance.now() - begin).toBeLessThan(1000);
    }
  });

  test("can be opened as soon as that process is killed [P21]", async () => {
    const { folder, store, thread } = await arrange();
    const other = new StoreProcess("hold", folder.path, "t1");
    await other.nextLine();
    await other.kill();
    const { writer, state } = await store.open("t1");
    expect(state).toEqual(thread.state);
    await writer.close();
  });
});

test("an open thread does not keep an otherwise idle process alive", async () => {
  const { folder, store } = await arrange();
  const other = new StoreProcess("leave", folder.path, "t1");
  expect(await other.nextLine()).toBe("open");
  expect(await other.nextLine()).toBeUndefined();
  await (await store.open("t1")).writer.close();
});

test("writers that are killed repeatedly lose nothing that they synced and leave nothing behind [P22]", async () => {
  const { folder, store } = await arrange();
  const ids = ["t1", "t2", "t3"];
  for (const id of ids.slice(1)) await (await WrittenThread.create(store, {}, id)).close();
  await Promise.all(ids.map((id) => killOften(folder, id, 6)));
  const after = new JsonlStore({ root: folder.path, durability: "relaxed" });
  onTestFinished(() => after.close());
  expect((await after.list(listQuery())).data.map(({ id }) => id).toSorted()).toEqual(ids);
});

async function killOften(folder: TemporaryFolder, threadId: string, rounds: number): Promise<void> {
  const safe: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const writer = new StoreProcess("write", folder.path, threadId);
    expect(await writer.nextLine()).toMatch(/^opened/);
    // Killed at a different point of its work each time.
    for (let line = 0; line < round % 7; line += 1) await writer.nextLine();
    const last = (await writer.kill()).findLast((line) => /^safe \d+$/.test(line));
    if (last !== undefined) safe.push(Number(last.slice("safe ".length)));
  }
  const store = new JsonlStore({ root: folder.path, durability: "relaxed" });
  const { state, damage } = await store.open(threadId);
  await store.close();
  expect(damage.missing).toBe(0);
  expect(state.seq).toBeGreaterThanOrEqual(Math.max(...safe));
  const seqs = new Set((await readAll(store, threadId)).map(({ seq }) => seq));
  expect(safe.filter((seq) => !seqs.has(seq))).toEqual([]);
  const names = readdirSync(folder.join("threads", threadId));
  expect(names.toSorted()).toEqual(["events.jsonl", "lock", "meta.json"]);
}
