import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { FlintError, type StoredEvent } from "@flint/protocol";
import { allTurns, readAll, sampleTurn, temporaryFolder, WrittenThread } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { type FileSystem, NODE_FILES } from "./file-system.ts";
import { JsonlStore } from "./jsonl-store.ts";
import { type FaultPlan, faultyFiles } from "./testing/faulty-files.ts";

/** A disk that can be filled and freed. */
interface Disk {
  readonly root: string;
  readonly files: FileSystem;
  fill(): void;
  free(): void;
}

async function injectedDisk(): Promise<Disk> {
  const folder = await temporaryFolder();
  const plan: FaultPlan = { calls: [] };
  return {
    root: folder.join("store"),
    files: faultyFiles(plan),
    fill: () => {
      plan.room = 150;
    },
    free: () => {
      plan.room = Number.POSITIVE_INFINITY;
    },
  };
}

/** A real file system of 256 KiB, or injected faults where mounting is not permitted. */
async function smallDisk(): Promise<Disk> {
  const folder = await temporaryFolder();
  mkdirSync(folder.join("disk"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", folder.join("disk")], {
      stdio: "pipe",
    });
  } catch (error) {
    // Only root may mount. A machine that promises to allow it must do so.
    if (process.env.FLINT_TEST_REQUIRE?.split(",").includes("mount")) throw error;
    return injectedDisk();
  }
  onTestFinished(() => void execFileSync("umount", [folder.join("disk")]));
  const filler = folder.join("disk/filler");
  return {
    root: folder.join("disk/store"),
    files: NODE_FILES,
    fill: () => fillUp(filler),
    free: () => rmSync(filler),
  };
}

function fillUp(path: string): void {
  for (let size = 64 * 1024; size >= 1; size = Math.floor(size / 2)) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(size), { flag: "a" });
    } catch {
      // Full for this size; smaller pieces may still fit.
    }
  }
}

/** Fills the disk in the middle of a thread, continues as a server would, and frees it again. */
async function checkFullDisk(disk: Disk): Promise<void> {
  const store = new JsonlStore({ root: disk.root, durability: "full", files: disk.files });
  onTestFinished(() => store.close());
  const thread = await WrittenThread.create(store, {}, "t1");
  thread.turn("before");
  thread.checkpoint();
  await thread.writer.sync();
  await thread.writer.close();
  thread.writer = (await store.open("t1")).writer;
  const metaBefore = readFileSync(`${disk.root}/threads/t1/meta.json`, "utf8");
  disk.fill();
  const refused = appendUntilRefused(thread);
  expect(refused.kind).toBe("storageFailed");
  expect(refused.data).toMatchObject({ code: "ENOSPC", threadId: "t1" });
  expect(refused.message).toContain("the disk is full. Free some space");
  thread.checkpoint();
  expect(() => thread.append(sampleTurn("t1", "refused", "y".repeat(9000)))).toThrow(FlintError);
  // Others can still read while the disk is full.
  expect(await readAll(store, "t1")).toEqual(thread.events);
  expect((await store.peek("t1")).damage).toEqual({ records: 0, missing: 0 });
  disk.free();
  thread.turn("after");
  await thread.writer.sync();
  await thread.close();
  await expectWhole(store, disk, thread.events, metaBefore);
}

function appendUntilRefused(thread: WrittenThread): FlintError {
  for (let index = 0; index < 10_000; index += 1) {
    try {
      thread.append(sampleTurn("t1", `full-${index}`, "x".repeat(700)));
    } catch (error) {
      if (error instanceof FlintError) return error;
      throw error;
    }
  }
  throw new Error("The disk never became full.");
}

async function expectWhole(
  store: JsonlStore,
  disk: Disk,
  events: readonly StoredEvent[],
  metaBefore: string,
): Promise<void> {
  expect(await readAll(store, "t1")).toEqual(events);
  const { writer, damage } = await store.open("t1");
  expect(damage).toEqual({ records: 0, missing: 0 });
  expect((await allTurns(store, "t1", 5)).at(-1)?.id).toBe("after");
  await writer.close();
  expect(readdirSync(`${disk.root}/threads/t1`).toSorted()).toEqual(["events.jsonl", "lock", "meta.json"]);
  const meta: unknown = JSON.parse(readFileSync(`${disk.root}/threads/t1/meta.json`, "utf8"));
  expect(meta).toMatchObject({ threadId: "t1" });
  expect(JSON.parse(metaBefore)).toMatchObject({ threadId: "t1" });
}

describe("a full disk", () => {
  test("is reported, loses nothing that was written, and recovers when there is space again [P20]", async () =>
    checkFullDisk(await injectedDisk()));

  test("is reported by a real file system too, and no record merges with another [P20]", async () =>
    checkFullDisk(await smallDisk()));
});
