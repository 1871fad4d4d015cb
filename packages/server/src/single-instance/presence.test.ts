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
import { readRunning } from "@flint/sdk";
import { TestClock, temporaryFolder, testEngine } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { serverFile } from "../config/environment.ts";
import { Frontends } from "../frontends.ts";
import { AlreadyRunning, Listening } from "../listeners/listening.ts";
import { HELLO } from "../listeners/testing/open-server.ts";
import { meetingPath } from "./rendezvous.ts";
import { meet } from "./running-server.ts";

function publish(folder: string): Promise<Listening> {
  const bare = { addresses: [], token: undefined, allowOrigins: [], allowHosts: [] } as const;
  const plan = { ...bare, door: "flint", root: "flint", presence: { folder, cwd: "/work" } } as const;
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
  test("is found there and met at any door, and leaves nothing but its lock file behind [P30]", async () => {
    const folder = (await temporaryFolder()).join("state");
    const listening = await published(folder);
    const running = readRunning(folder);
    if (running === undefined) throw new Error("It is not found.");
    expect(running).toMatchObject({ pid: process.pid, cwd: "/work", listeners: [] });
    const modes = ["run/server.json", "run/server.sock", "server.lock", "run"].map(
      (name) => statSync(`${folder}/${name}`).mode & 0o777,
    );
    expect([...modes, statSync(folder).mode & 0o777]).toEqual([0o600, 0o600, 0o600, 0o700, 0o700]);
    const met = await meet(running, { door: "flint" });
    if (!met.ok) throw new Error(met.reason);
    met.socket.end(HELLO);
    expect(JSON.parse(await text(met.socket))).toMatchObject({ id: 1, result: {} });
    await listening.empty();
    await listening.withdraw();
    expect(readdirSync(folder)).toEqual(["run", "server.lock"]);
    expect(readdirSync(`${folder}/run`)).toEqual([]);
    expect(await meet(running, { door: "flint" })).toMatchObject({ ok: false });
  });

  test("is one: a second is told who the first is, and takes its place when that is gone", async () => {
    const { path } = await temporaryFolder();
    const first = await publish(path);
    const second = publish(path);
    await expect(second).rejects.toThrow(AlreadyRunning);
    await expect(second).rejects.toThrow(`process id ${process.pid}`);
    expect(readRunning(path)?.pid).toBe(process.pid);
    await first.withdraw();
    await published(path);
  });

  test("replaces what a server that was killed left behind", async () => {
    const { path } = await temporaryFolder();
    mkdirSync(dirname(serverFile(path)));
    writeFileSync(serverFile(path), '{"pid":1}', { mode: 0o600 });
    expect(readRunning(path)).toBeUndefined();
    await published(path);
    expect(readRunning(path)?.pid).toBe(process.pid);
  });

  test("that cannot write what it is found by listens no more when the next one tries", async () => {
    const { path } = await temporaryFolder();
    // A file cannot take the place of a folder that is not empty.
    mkdirSync(`${serverFile(path)}/in-the-way`, { recursive: true });
    await expect(publish(path)).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/);
    expect(existsSync(meetingPath(path))).toBe(false);
    rmSync(serverFile(path), { recursive: true });
    await published(path);
    expect(readRunning(path)?.pid).toBe(process.pid);
  });

  test("is not believed from a file that others can write", async () => {
    const { path } = await temporaryFolder();
    await published(path);
    chmodSync(serverFile(path), 0o622);
    expect(readRunning(path)).toBeUndefined();
  });

  test("is met in a short private folder where the path of the state folder is too long for a socket", async () => {
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
    expect(() => meetingPath(long)).toThrow("is not a private folder of yours");
  });

  test("tightens a state folder that was open to others", async () => {
    const folder = (await temporaryFolder()).join("state");
    mkdirSync(folder, { mode: 0o755 });
    chmodSync(folder, 0o755);
    await published(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });
});
