import { cp, mkdir, readdir, rename, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { NODE_FILES } from "./file-system.ts";
import { acquireLock, type Lock, type LockKind } from "./lock.ts";

async function take(folder: string, kind?: LockKind): Promise<Lock | number | undefined> {
  const attempt = await acquireLock(NODE_FILES, folder, "lock", kind);
  if (!("lock" in attempt)) return attempt.owner;
  onTestFinished(() => attempt.lock.release());
  return attempt.lock;
}

async function taken(folder: string, kind?: LockKind): Promise<Lock> {
  const lock = await take(folder, kind);
  if (typeof lock === "object") return lock;
  throw new Error("The lock was not free.");
}

describe.each<LockKind>(["abstract", "path"])("a lock by %s", (kind) => {
  test("has one owner at a time, whose process id the others get", async () => {
    const { path } = await temporaryFolder();
    const lock = await taken(path, kind);
    expect(await take(path, kind)).toBe(process.pid);
    await lock.release();
    await taken(path, kind);
    expect(await take(path, kind)).toBe(process.pid);
  });

  test("is acquired by exactly one of many concurrent attempts", async () => {
    const { path } = await temporaryFolder();
    const attempts = await Promise.all(Array.from({ length: 20 }, () => take(path, kind)));
    expect(attempts.filter((attempt) => typeof attempt === "object")).toHaveLength(1);
    expect(attempts.filter((attempt) => attempt === process.pid)).toHaveLength(19);
    expect((await readdir(path)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  test("creates only private files", async () => {
    const { path, join } = await temporaryFolder();
    await taken(path, kind);
    for (const name of await readdir(path)) expect((await stat(join(name))).mode & 0o777).toBe(0o600);
  });
});

test("a copy of a folder has its own lock", async () => {
  const folder = await temporaryFolder();
  await mkdir(folder.join("original"));
  await taken(folder.join("original"));
  await cp(folder.join("original"), folder.join("copy"), { recursive: true });
  await taken(folder.join("copy"));
});

test("a damaged token still locks", async () => {
  const folder = await temporaryFolder();
  await writeFile(folder.join("lock"), "");
  await taken(folder.path);
  expect(await take(folder.path)).toBe(process.pid);
});

test("a socket file that a crash left does not lock", async () => {
  const folder = await temporaryFolder();
  await taken(folder.path, "path").then((lock) => lock.release());
  await leaveSocket(folder.join("lock.socket"));
  expect(await readdir(folder.path)).toContain("lock.socket");
  await taken(folder.path, "path");
});

/** Leaves a socket file without a listener, as a killed process does. */
async function leaveSocket(path: string): Promise<void> {
  const server = await listening(`${path}.alive`);
  await rename(`${path}.alive`, path);
  await new Promise((resolve) => server.close(resolve));
}

function listening(path: string): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(path, () => resolve(server));
  });
}
