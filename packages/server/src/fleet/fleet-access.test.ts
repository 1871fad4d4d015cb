import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { Gate, needs, temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished } from "vitest";
import {
  addToFleet,
  newsOf,
  type RedisAccess,
  setUpFleet,
  untilInFleet,
  writesFile,
} from "../testing/fleet-fixture.ts";

const GUIDE = new URL("../../../../docs/guides/fleet.md", import.meta.url);

/** The user that the guide shows, for the namespace of the tests. */
async function userOfGuide(): Promise<string> {
  const line = /^ {4}(user flint on .*)$/m.exec(await readFile(GUIDE, "utf8"))?.[1];
  if (line === undefined) throw new Error("The guide shows no user.");
  return line.replace("PASSWORD", "secret").replaceAll("{default}", "{test}");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("There is no port.");
  return address.port;
}

/** A Redis that knows this user and no other. */
async function accessFor(user: string, password = "secret"): Promise<RedisAccess> {
  const [port, folder] = [await freePort(), await temporaryFolder()];
  const file = folder.join("users.acl");
  await writeFile(file, `user default off\n${user}\n`);
  return {
    args: ["--port", String(port), "--bind", "127.0.0.1", "--aclfile", file],
    url: `redis://flint:${password}@127.0.0.1:${port}`,
  };
}

describe("a Redis with a user for the fleet", () => {
  needs(
    "redis",
    "bwrap",
    "git",
  )("lets that user do all that tasks need, and nothing else", async () => {
    const access = await accessFor(await userOfGuide());
    const { client, cwd, startWorker } = await setUpFleet(
      (_name, _text, folder) => writesFile(folder),
      access,
    );
    const id = await addToFleet(client, cwd);
    const worker = await startWorker("w1");
    expect(await untilInFleet(client, id, "approving", "failed", "asking")).toMatchObject({
      phase: "approving",
    });
    expect((await newsOf(access.url)).map(({ type }) => type)).toContain("task:turn");
    await client.call("task/cancel", { taskId: id });
    await client.call("task/remove", { taskId: id });
    await worker.drain(0);
    const { openConnection } = await import("@flint/tasks/fleet");
    const redis = await openConnection(access.url);
    await expect(redis.get("someone:else")).rejects.toThrow("NOPERM");
    await expect(redis.flushall()).rejects.toThrow("NOPERM");
    await expect(redis.config("GET", "*")).rejects.toThrow("NOPERM");
    redis.disconnect();
  });

  needs("redis", "git")("refuses a server whose user may not write tasks, with the reason", async () => {
    const { RedisStore } = await import("@flint/tasks/fleet");
    const { RedisServer } = await import("@flint/testkit");
    const { args, url } = await accessFor("user flint on >secret ~other:* +@all");
    await RedisServer.start({ args });
    await expect(RedisStore.open({ url, namespace: "test", version: "0" })).rejects.toThrow(
      "may not do what tasks need",
    );
  });

  needs(
    "redis",
    "bwrap",
    "git",
  )("cannot make a worker leave the folder of a task that it runs", async () => {
    const { RedisStore } = await import("@flint/tasks/fleet");
    const gate = new Gate();
    const { client, cwd, home, redis, startWorker } = await setUpFleet((_name, _text, folder) => [
      { wait: gate },
      ...writesFile(folder),
    ]);
    const victim = home.join("victim");
    await mkdir(victim);
    const forger = await RedisStore.open({ url: redis.url, namespace: "test", version: "0" });
    onTestFinished(() => forger.close());
    const id = await addToFleet(client, cwd, { checks: [{ command: "touch checked" }] });
    await startWorker("w1");
    await gate.reached;
    const forge = async () => {
      const { version = 0, base = "" } = (await forger.read(id)) ?? {};
      const data = { base, folder: victim };
      return forger.commit({ task: id, expect: version, events: [{ type: "round/prepared", data }] });
    };
    await expect.poll(async () => (await forge()).status).toBe("ok");
    gate.open();
    const task = await untilInFleet(client, id, "approving", "failed", "asking");
    expect([task.phase, await readdir(victim)]).toEqual(["approving", []]);
  });
});
