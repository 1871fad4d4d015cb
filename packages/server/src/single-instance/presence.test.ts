import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { readRunningServer } from "@flint/sdk";
import { TestClock, temporaryFolder, testEngine } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { serverFile } from "../config/environment.ts";
import { Frontends } from "../frontends.ts";
import { AlreadyRunning, Listening } from "../serve/listening.ts";
import { HELLO } from "../serve/testing/open-server.ts";
import { rendezvousPath } from "./rendezvous.ts";
import { connectRunning } from "./running-server.ts";

function publish(folder: string): Promise<Listening> {
  const bare = { addresses: [], token: undefined, allowOrigins: [], allowHosts: [] } as const;
  const plan = { ...bare, protocol: "flint", root: "flint", presence: { folder, cwd: "/code" } } as const;
  return Listening.start(new Frontends(testEngine().engine), plan, new TestClock());
}

async function published(folder: string): Promise<Listening> {
  const listening = await publish(folder);
  onTestFinished(async () => {
    await listening.withdraw();
    await listening.close();
  });
  return listening;
}

describe("the server of a state folder", () => {
  test("is found there, serves any protocol, and leaves only its lock file behind [P30]", async () => {
    const folder = (await temporaryFolder()).join("state");
    const listening = await published(folder);
    const running = readRunningServer(folder);
    if (running === undefined) throw new Error("It is not found.");
    expect(running).toMatchObject({ pid: process.pid, cwd: "/code", listeners: [] });
    const modes = ["run/server.json", "run/server.sock", "server.lock", "run"].map(
      (name) => statSync(`${folder}/${name}`).mode & 0o777,
    );
    expect([...modes, statSync(folder).mode & 0o777]).toEqual([0o600, 0o600, 0o600, 0o700, 0o700]);
    const met = await connectRunning(running, { protocol: "flint" });
    if (!met.ok) throw new Error(met.reason);
    met.socket.end(HELLO);
    expect(JSON.parse(await text(met.socket))).toMatchObject({ id: 1, result: {} });
    await listening.empty();
    await listening.withdraw();
    expect(readdirSync(folder)).toEqual(["run", "server.lock"]);
    expect(readdirSync(`${folder}/run`)).toEqual([]);
    expect(await connectRunning(running, { protocol: "flint" })).toMatchObject({ ok: false });
  });

  test("is unique: a second server names the first, and replaces it when it has exited", async () => {
    const { path } = await temporaryFolder();
    const first = await publish(path);
    const second = publish(path);
    await expect(second).rejects.toThrow(AlreadyRunning);
    await expect(second).rejects.toThrow(`process ${process.pid}`);
    await expect(second).rejects.toThrow("stop it with flint server stop");
    expect(readRunningServer(path)?.pid).toBe(process.pid);
    await first.withdraw();
    await published(path);
  });

  test("replaces the files of a killed server", async () => {
    const { path } = await temporaryFolder();
    mkdirSync(dirname(serverFile(path)));
    writeFileSync(serverFile(path), '{"pid":1}', { mode: 0o600 });
    expect(readRunningServer(path)).toBeUndefined();
    await published(path);
    expect(readRunningServer(path)?.pid).toBe(process.pid);
  });

  test("stops listening if it cannot announce itself", async () => {
    const { path } = await temporaryFolder();
    // A file cannot take the place of a folder that is not empty.
    mkdirSync(`${serverFile(path)}/in-the-way`, { recursive: true });
    await expect(publish(path)).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/);
    expect(existsSync(rendezvousPath(path))).toBe(false);
    rmSync(serverFile(path), { recursive: true });
    await published(path);
    expect(readRunningServer(path)?.pid).toBe(process.pid);
  });

  test("is not read from a file that other users can write", async () => {
    const { path } = await temporaryFolder();
    await published(path);
    chmodSync(serverFile(path), 0o622);
    expect(readRunningServer(path)).toBeUndefined();
  });

  test("uses a short private folder if the path of the state folder is too long for a socket", async () => {
    const runtime = await temporaryFolder();
    const { XDG_RUNTIME_DIR: before } = process.env;
    process.env.XDG_RUNTIME_DIR = runtime.path;
    onTestFinished(() => {
      if (before === undefined) delete process.env.XDG_RUNTIME_DIR;
      else process.env.XDG_RUNTIME_DIR = before;
    });
    const long = (await temporaryFolder()).join("x".repeat(120));
    const listening = await published(long);
    const { socket } = JSON.parse(readFileSync(serverFile(long), "utf8"));
    expect(socket.startsWith(`${runtime.path}/flint/`)).toBe(true);
    expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700);
    await listening.withdraw();
    expect(existsSync(socket)).toBe(false);
    chmodSync(`${runtime.path}/flint`, 0o777);
    expect(() => rendezvousPath(long)).toThrow("is not private to you");
  });

  test("makes a state folder private that others could read", async () => {
    const folder = (await temporaryFolder()).join("state");
    mkdirSync(folder, { mode: 0o755 });
    chmodSync(folder, 0o755);
    await published(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });
});
