import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { NODE_FILES } from "../file-system.ts";
import type { LockKind } from "../lock.ts";
import { type ThreadLockAttempt, ThreadLocks } from "./thread-locks.ts";

/** Two stores on one state folder with two thread folders, as two processes have them. */
async function twoStores(kind?: LockKind) {
  const folder = await temporaryFolder();
  await Promise.all([mkdir(folder.join("a")), mkdir(folder.join("b"))]);
  const open = (): ThreadLocks => {
    const locks = new ThreadLocks(NODE_FILES, folder.path, kind);
    onTestFinished(() => locks.close());
    return locks;
  };
  return { folder, one: open(), other: open() };
}

function locked(attempt: ThreadLockAttempt) {
  if ("lock" in attempt) return attempt.lock;
  throw new Error(`The lock was not free: ${attempt.owner}`);
}

describe.each<LockKind>(["abstract", "path"])("thread locks by %s", (kind) => {
  test("have one owner at a time, and each thread its own", async () => {
    const { folder, one, other } = await twoStores(kind);
    const lock = locked(await one.acquire(folder.join("a")));
    expect(await other.acquire(folder.join("a"))).toEqual({ owner: process.pid });
    expect(await one.acquire(folder.join("a"))).toEqual({ owner: process.pid });
    locked(await other.acquire(folder.join("b")));
    lock.release();
    locked(await other.acquire(folder.join("a")));
    expect(await one.acquire(folder.join("a"))).toEqual({ owner: process.pid });
  });

  test("of a new folder keep others out as well", async () => {
    const { folder, one, other } = await twoStores(kind);
    const lock = locked(await one.acquireNew(folder.join("a")));
    expect(await other.acquireNew(folder.join("a"))).toEqual({ owner: process.pid });
    lock.release();
    locked(await other.acquireNew(folder.join("a")));
  });

  test("are free when their owner has closed, without a release", async () => {
    const { folder, one, other } = await twoStores(kind);
    locked(await one.acquire(folder.join("a")));
    await one.close();
    locked(await other.acquire(folder.join("a")));
  });

  test("are acquired by exactly one of many", async () => {
    const { folder, one, other } = await twoStores(kind);
    const attempts = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? one : other).acquire(folder.join("a"))),
    );
    expect(attempts.filter((attempt) => "lock" in attempt)).toHaveLength(1);
  });
});

test("a hundred locks take one socket", async () => {
  const { folder, one } = await twoStores();
  const before = (await readdir("/proc/self/fd")).length;
  for (let index = 0; index < 100; index += 1) {
    await mkdir(folder.join(`t${index}`));
    locked(await one.acquire(folder.join(`t${index}`)));
  }
  expect((await readdir("/proc/self/fd")).length - before).toBeLessThan(10);
});

test("a copy of a locked folder is free", async () => {
  const { folder, one, other } = await twoStores();
  locked(await one.acquire(folder.join("a")));
  await cp(folder.join("a"), folder.join("copy"), { recursive: true });
  locked(await other.acquire(folder.join("copy")));
});

test.each(["", "damaged", `${"0".repeat(32)}\nno owner\n`])("a lock file %j still locks", async (content) => {
  const { folder, one, other } = await twoStores();
  await writeFile(folder.join("a", "lock"), content);
  locked(await one.acquire(folder.join("a")));
  expect(await other.acquire(folder.join("a"))).toEqual({ owner: process.pid });
});

test("a released lock leaves only its token", async () => {
  const { folder, one } = await twoStores();
  locked(await one.acquire(folder.join("a"))).release();
  expect(await readFile(folder.join("a", "lock"), "utf8")).toMatch(/^[0-9a-f]{32}$/);
});
